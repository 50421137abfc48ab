"""Linear algebra on small matrices: linalg.c."""
import warnings

import torch

a = torch.ops.aten


def cases(t):
    warnings.simplefilter("ignore")
    for dtype in (torch.float32, torch.float64):
        t.group(f"triangular_solve, cholesky_*, lu_unpack, geqrf, ormqr {str(dtype)[6:]}")
        for _ in range(25):
            batch, n, k = t.pick([(), (2,), (2, 3)]), t.int(1, 9), t.int(1, 5)
            tri = t.strided(t.rand(*batch, n, n, dtype=dtype) / 4 + 2 * torch.eye(n, dtype=dtype))
            b = t.strided(t.rand(*t.pick([batch, batch[1:], (1,) * len(batch)]), n, k, dtype=dtype))
            flags = [t.int(0, 1) for _ in range(3)]
            t.check("triangular_solve", b, tri, *flags, slack=1e-5,
                    torch=lambda b, x, u, tr, un: a.triangular_solve(b, x, bool(u), bool(tr), bool(un)))
            chol = torch.linalg.cholesky(tri @ tri.mT)
            up = t.int(0, 1)
            chol = t.strided(chol.mT if up else chol)
            t.check("cholesky_solve", b, chol, up, torch=lambda b, x, u: a.cholesky_solve(b, x, bool(u)), slack=1e-5)
            t.check("cholesky_inverse", chol, up, torch=lambda x, u: a.cholesky_inverse(x, bool(u)), slack=1e-5)
            wide = t.rand(*batch, n, k, dtype=dtype)
            lu, piv = torch.linalg.lu_factor(wide)
            what = t.pick([(1, 1), (1, 0), (0, 1)])
            t.check("lu_unpack", t.strided(lu), piv, *what, torch=lambda x, p, d, q: a.lu_unpack(x, p, bool(d), bool(q)))
            t.check("geqrf", t.strided(wide), torch=a.geqrf, slack=1e-5)
            qr, tau = torch.geqrf(t.rand(*batch, n, t.int(1, n), dtype=dtype))
            left, tr = t.int(0, 1), t.int(0, 1)
            c = t.strided(t.rand(*batch, *((n, k) if left else (k, n)), dtype=dtype))
            t.check("ormqr", qr, tau, c, left, tr, torch=lambda q, h, c, le, tt: a.ormqr(q, h, c, bool(le), bool(tt)), slack=1e-5)
    t.group("linear algebra refuses")
    t.check("cholesky_inverse", t.rand(2, 3), 0, torch=lambda x, u: a.cholesky_inverse(x, bool(u)))
    t.check("triangular_solve", t.rand(4, 2), t.rand(3, 3), 0, 0, 0, torch=lambda b, x, u, tr, un: a.triangular_solve(b, x, bool(u), bool(tr), bool(un)))
