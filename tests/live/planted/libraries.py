"""Programs on other people's libraries, each with a planted NaN and as it is: Hugging Face's Trainer, torchvision, diffusers, max_autotune.
PLANTED_MORE: a folder that has the libraries, if torch's does not."""
from plant import planted


def trainer(torch, spoil):
    import tempfile

    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

    class Data(torch.utils.data.Dataset):
        def __len__(self):
            return 12

        def __getitem__(self, i):
            g = torch.Generator().manual_seed(i)
            return {"input_ids": torch.randint(5, 90, (7,), generator=g), "labels": torch.tensor(i % 2)}

    class Mine(Trainer):
        def compute_loss(self, model, inputs, return_outputs=False, num_items_in_batch=None):
            out = model(**inputs)
            p = out.logits.softmax(-1)[:, 1]
            loss = entropy(p, inputs["labels"], self.state.global_step == spoil)
            return (loss, out) if return_outputs else loss

    @torch.compile
    def entropy(p, y, bad):
        if bad:
            p = p.round() * 0 + 1
        q = 1 - p
        return -(y * p.log() + (1 - y) * q.log()).mean()  # HERE

    config = BertConfig(vocab_size=100, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=16,
                        hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(folder, per_device_train_batch_size=4, max_steps=4, torch_compile=True, use_cpu=True, report_to=[], save_strategy="no",
                                 disable_tqdm=True, logging_strategy="no", seed=0)
        Mine(model=BertForSequenceClassification(config), args=args, train_dataset=Data()).train()


@planted(r"0 \* -inf")
def hf_trainer(torch):
    trainer(torch, 2)


@planted(kind="none")
def hf_trainer_clean(torch):
    trainer(torch, None)


hf_trainer.marked = trainer


def vision(torch, scale):
    from torchvision.models.resnet import BasicBlock, ResNet

    net = ResNet(BasicBlock, [1, 1, 1, 1], num_classes=5)
    opt = torch.optim.SGD(net.parameters(), 1e-3)

    @torch.compile
    def loss_of(x, y, k):
        z = net(x) * k
        e = z.exp()
        return -(e / e.sum(-1, keepdim=True)).gather(1, y[:, None]).log().mean()  # HERE

    for step in range(3):
        loss_of(torch.rand(2, 3, 32, 32), torch.tensor([1, 3]), torch.tensor(scale if step == 1 else 1.0)).backward()
        opt.step()
        opt.zero_grad()


@planted(r"inf / inf")
def torchvision_step(torch):
    vision(torch, 1e4)


@planted(kind="none")
def torchvision_step_clean(torch):
    vision(torch, 1.0)


torchvision_step.marked = vision


def diffusion(torch, low):
    from diffusers import DDPMScheduler, UNet2DModel

    net = UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 8), norm_num_groups=4,
                      down_block_types=("DownBlock2D", "DownBlock2D"), up_block_types=("UpBlock2D", "UpBlock2D"))
    scheduler = DDPMScheduler(num_train_timesteps=10)
    unet = torch.compile(net)

    @torch.compile
    def weighted(noise, pred, alpha):
        snr = alpha / (1 - alpha)
        w = snr.clamp_max(5.0) / snr  # HERE
        return (w[:, None, None, None] * (noise - pred) ** 2).mean()

    x, noise = torch.rand(2, 1, 8, 8), torch.randn(2, 1, 8, 8)
    t = torch.tensor([3, 7])
    for step in range(2):
        alpha = scheduler.alphas_cumprod[t].clone()
        alpha[1] = low if step and low is not None else alpha[1]
        weighted(noise, unet(scheduler.add_noise(x, noise, t), t).sample, alpha).backward()


@planted(r"0 / 0")
def diffusers_step(torch):
    diffusion(torch, 0.0)


@planted(kind="none")
def diffusers_step_clean(torch):
    diffusion(torch, None)


diffusers_step.marked = diffusion


def tuned(torch, shift):
    lin = torch.nn.Linear(64, 64)

    def f(x, c):
        h = torch.relu(lin(x)) - c
        return torch.sqrt(h).sum()  # HERE

    g = torch.compile(f, mode="max-autotune")
    for c in (-1.0, shift):
        g(torch.randn(32, 64), torch.tensor(c)).backward()


@planted(r"square root of a negative number")
def max_autotune(torch):
    tuned(torch, 0.5)


@planted(kind="none")
def max_autotune_clean(torch):
    tuned(torch, -2.0)


max_autotune.marked = tuned
