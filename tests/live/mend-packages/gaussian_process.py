"""gpytorch: an exact Gaussian process, fitted to a sine."""
# pip: gpytorch==1.15.2; linear-operator jaxtyping wadler-lindig scikit-learn scipy joblib threadpoolctl tqdm
import gpytorch
import torch

torch.manual_seed(0)
x = torch.linspace(0, 1, 30)
y = torch.sin(6 * x) + 0.1 * torch.randn(30)


class Process(gpytorch.models.ExactGP):
    def __init__(self, likelihood):
        super().__init__(x, y, likelihood)
        self.mean = gpytorch.means.ConstantMean()
        self.kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean(x), self.kernel(x))


likelihood = gpytorch.likelihoods.GaussianLikelihood()
model = Process(likelihood)
evidence = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)


@torch.compile
def loss_of():
    return -evidence(model(x), y)


for step in range(8):
    optimizer.zero_grad()
    loss = loss_of()
    loss.backward()
    optimizer.step()
    print("step %d: loss %.4f, noise %.4f" % (step, loss.item(), likelihood.noise.item()))
