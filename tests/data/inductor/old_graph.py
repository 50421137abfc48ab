class <lambda>(torch.nn.Module):
    def forward(self, arg0_1: "u8[1, 8]", arg1_1: "u8[40, 8]"):
        # File: /home/user/app/old.py:3 in foo, code: a = torch.neg(x1)
        neg: "u8[1, 8]" = torch.ops.aten.neg.default(arg0_1);  arg0_1 = None

        # File: /home/user/app/old.py:4 in foo, code: b = torch.maximum(x2, a)
        maximum: "u8[40, 8]" = torch.ops.aten.maximum.default(arg1_1, neg);  arg1_1 = neg = None

        # File: /home/user/app/old.py:5 in foo, code: y = torch.cat([b], dim=0)
        clone: "u8[40, 8]" = torch.ops.aten.clone.default(maximum);  maximum = None
        return (clone,)
