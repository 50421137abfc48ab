"""Training and inference on other people's libraries, tiny and without a NaN, for libraries.t: a fork each, so that one's failure is its own.

    python3 clean_libraries.py [NAME...]    # prints "NAME PID" before each; "# NAME ran", "# NAME has no LIBRARY" or "# NAME failed: ..." after it
PLANTED_MORE: folders that have the libraries, if torch's environment does not."""
import os
import sys
import tempfile

PROGRAMS = {}


def program(f):
    PROGRAMS[f.__name__] = f
    return f


def finite(*tensors):
    import torch

    for t in tensors:
        if not bool(torch.isfinite(t).all()):
            raise ArithmeticError("its result is not finite")


def train(loss_of, parameters, batch, opt="SGD", steps=3, **more):
    """Compiles loss_of and takes some steps."""
    import torch

    opt = getattr(torch.optim, opt)(parameters, lr=1e-3, **more)
    f = torch.compile(loss_of)
    for _ in range(steps):
        opt.zero_grad()
        loss = f(*batch())
        loss.backward()
        opt.step()
        finite(loss.detach())


def classify(net, *size, classes=5, **more):
    import torch

    F = torch.nn.functional
    train(lambda x, y: F.cross_entropy(net(x), y), net.parameters(), lambda: (torch.rand(*size), torch.randint(0, classes, size[:1])), **more)


# ---- torchvision ----


@program
def torchvision_resnet():
    from torchvision.models.resnet import BasicBlock, ResNet

    classify(ResNet(BasicBlock, [1, 1, 1, 1], num_classes=5), 4, 3, 32, 32, momentum=0.9, weight_decay=1e-4)


@program
def torchvision_squeezenet():
    import torchvision

    classify(torchvision.models.squeezenet1_1(num_classes=5), 2, 3, 64, 64, opt="Adam", steps=2)


@program
def torchvision_vit():
    from torchvision.models import VisionTransformer

    classify(VisionTransformer(16, 8, 2, 2, 16, 32, dropout=0.1, num_classes=5), 4, 3, 16, 16, opt="AdamW")


@program
def torchvision_detection_losses():
    import torch
    from torchvision import ops

    lin = torch.nn.Linear(8, 5)

    def loss(x, boxes, y):
        out = lin(x)
        shift = out[:, 1:].sigmoid()
        guess = torch.cat([boxes[:, :2] - shift[:, :2], boxes[:, 2:] + shift[:, 2:]], 1)
        return (ops.sigmoid_focal_loss(out[:, 0], y, reduction="mean") + ops.generalized_box_iou_loss(guess, boxes, reduction="mean")
                + ops.complete_box_iou_loss(guess, boxes, reduction="mean"))

    def batch():
        at = torch.rand(6, 2) * 10
        return torch.randn(6, 8), torch.cat([at, at + 1 + torch.rand(6, 2)], 1), (torch.rand(6) > 0.5).float()

    train(loss, lin.parameters(), batch, opt="AdamW")


# ---- timm: its own test models ----


def timm_model(name, **more):
    import timm

    classify(timm.create_model(name, pretrained=False, num_classes=5), 2, 3, 96, 96, steps=2, **more)


@program
def timm_vit():
    timm_model("test_vit", opt="AdamW")


@program
def timm_convnext():
    timm_model("test_convnext", opt="AdamW")


@program
def timm_resnet():
    timm_model("test_resnet", opt="RMSprop")


@program
def timm_efficientnet():
    timm_model("test_efficientnet", opt="RMSprop")


# ---- transformers ----


def language(config, model, padded=False, **more):
    import torch

    net = model(config)

    def batch():
        i = torch.randint(5, 90, (3, 9))
        mask = torch.ones(3, 9, dtype=torch.long)
        if padded:
            mask[1, 6:] = 0
        return i, mask

    train(lambda i, m: net(input_ids=i, attention_mask=m, labels=i).loss, net.parameters(), batch, opt="AdamW", **more)


@program
def transformers_gpt2():
    from transformers import GPT2Config, GPT2LMHeadModel

    language(GPT2Config(vocab_size=100, n_embd=16, n_layer=1, n_head=2, n_positions=32, attn_implementation="eager"), GPT2LMHeadModel, padded=True)


@program
def transformers_llama():
    from transformers import LlamaConfig, LlamaForCausalLM

    language(LlamaConfig(vocab_size=100, hidden_size=16, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2, num_key_value_heads=1,
                         max_position_embeddings=32), LlamaForCausalLM, padded=True)


@program
def transformers_t5():
    from transformers import T5Config, T5ForConditionalGeneration

    language(T5Config(vocab_size=100, d_model=16, d_kv=8, d_ff=32, num_layers=1, num_heads=2, decoder_start_token_id=0), T5ForConditionalGeneration, padded=True)


@program
def transformers_bert_masked():
    from transformers import BertConfig, BertForMaskedLM

    language(BertConfig(vocab_size=100, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=32),
             BertForMaskedLM, padded=True)


@program
def transformers_generate():
    """A decoder whose input grows, compiled with dynamic shapes."""
    import torch
    from transformers import GPT2Config, GPT2LMHeadModel

    net = GPT2LMHeadModel(GPT2Config(vocab_size=100, n_embd=16, n_layer=1, n_head=2, n_positions=32)).eval()
    f = torch.compile(lambda i: net(input_ids=i, use_cache=False).logits[:, -1], dynamic=True)
    i = torch.randint(5, 90, (2, 4))
    with torch.no_grad():
        for _ in range(4):
            logits = f(i)
            finite(logits)
            i = torch.cat([i, logits.argmax(-1, keepdim=True)], 1)


@program
def transformers_trainer():
    import torch
    from transformers import BertConfig, BertForSequenceClassification, Trainer, TrainingArguments

    data = [{"input_ids": torch.randint(5, 90, (7,)), "labels": torch.tensor(i % 2)} for i in range(12)]
    config = BertConfig(vocab_size=100, hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32, max_position_embeddings=16)
    with tempfile.TemporaryDirectory() as folder:
        args = TrainingArguments(folder, per_device_train_batch_size=4, max_steps=5, torch_compile=True, use_cpu=True, report_to=[], save_strategy="no",
                                 disable_tqdm=True, logging_strategy="no", lr_scheduler_type="cosine", warmup_steps=2, gradient_accumulation_steps=1)
        finite(torch.tensor(Trainer(model=BertForSequenceClassification(config), args=args, train_dataset=data).train().training_loss))


# ---- diffusers ----


def unet():
    from diffusers import UNet2DModel

    return UNet2DModel(sample_size=8, in_channels=1, out_channels=1, layers_per_block=1, block_out_channels=(8, 8), norm_num_groups=4,
                       down_block_types=("DownBlock2D", "AttnDownBlock2D"), up_block_types=("AttnUpBlock2D", "UpBlock2D"))


@program
def diffusers_training():
    """The loss weighted by min(SNR, 5) / SNR, as its example scripts do."""
    import torch
    from diffusers import DDPMScheduler

    net, scheduler = unet(), DDPMScheduler(num_train_timesteps=20)

    def loss(x, noise, t, noisy):
        alpha = scheduler.alphas_cumprod[t]
        snr = alpha / (1 - alpha)
        weight = snr.clamp_max(5.0) / snr
        return (weight[:, None, None, None] * (net(noisy, t).sample - noise) ** 2).mean()

    def batch():
        x, noise, t = torch.rand(2, 1, 8, 8), torch.randn(2, 1, 8, 8), torch.randint(0, 20, (2,))
        return x, noise, t, scheduler.add_noise(x, noise, t)

    train(loss, net.parameters(), batch, opt="AdamW", steps=2)


@program
def diffusers_sampling():
    import torch
    from diffusers import DDIMScheduler

    net, scheduler = torch.compile(unet().eval()), DDIMScheduler(num_train_timesteps=20)
    scheduler.set_timesteps(4)
    x = torch.randn(1, 1, 8, 8)
    with torch.no_grad():
        for t in scheduler.timesteps:
            x = scheduler.step(net(x, t).sample, t, x).prev_sample
    finite(x)


@program
def diffusers_autoencoder():
    import torch
    from diffusers import AutoencoderKL

    net = AutoencoderKL(block_out_channels=(8,), norm_num_groups=4, latent_channels=2, sample_size=8)

    def loss(x):
        d = net.encode(x).latent_dist
        return (net.decode(d.mean + d.std * 0.1).sample - x).square().mean() + 1e-3 * d.kl().mean()

    train(loss, net.parameters(), lambda: (torch.rand(2, 3, 8, 8),), opt="Adam", steps=2)


# ---- torch_geometric ----


def graph_net(layer, **more):
    import torch
    import torch_geometric.nn as g

    F = torch.nn.functional
    one, two = getattr(g, layer)(8, 8, **more), getattr(g, layer)(8, 3, **more)
    edges = torch.tensor([[0, 1, 2, 3, 4, 0, 2], [1, 0, 3, 2, 0, 4, 5]])  # 6 has no neighbour
    train(lambda x, y: F.cross_entropy(two(F.elu(one(x, edges)), edges), y), [*one.parameters(), *two.parameters()],
          lambda: (torch.randn(7, 8), torch.randint(0, 3, (7,))), opt="Adam")


@program
def geometric_gcn():
    graph_net("GCNConv")


@program
def geometric_gat():
    graph_net("GATConv")


@program
def geometric_sage():
    graph_net("SAGEConv", normalize=True)


# ---- torch's own: what training loops do ----


def mixed(dtype, scaler=None):
    """Autocast; with a scaler that overflows and skips, whose infinities are its own."""
    import torch

    nn = torch.nn
    net = nn.Sequential(nn.Linear(16, 32), nn.LayerNorm(32), nn.GELU(), nn.Linear(32, 4))
    opt = torch.optim.SGD(net.parameters(), 1e-2)
    scaler = torch.amp.GradScaler("cpu", init_scale=2.0**24 if scaler else 1.0, growth_interval=3, enabled=bool(scaler))

    def loss_of(x, y):
        with torch.autocast("cpu", dtype):
            return nn.functional.mse_loss(net(x).float(), y)

    f = torch.compile(loss_of)
    for _ in range(16):
        opt.zero_grad()
        loss = f(torch.randn(8, 16), torch.randn(8, 4))
        scaler.scale(loss).backward()
        scaler.unscale_(opt)
        nn.utils.clip_grad_norm_(net.parameters(), 1.0)
        scaler.step(opt)
        scaler.update()
        finite(loss.detach(), *[p.detach() for p in net.parameters()])


@program
def torch_bfloat16():
    import torch

    mixed(torch.bfloat16)


@program
def torch_gradscaler():
    import torch

    mixed(torch.float16, True)


@program
def torch_compiled_optimizers():
    import torch

    for name in ("SGD", "Adam", "AdamW", "RMSprop", "Adagrad", "NAdam", "Adadelta"):
        torch.manual_seed(0)
        torch._dynamo.reset()
        p = [torch.nn.Parameter(torch.randn(4, 4)), torch.nn.Parameter(torch.zeros(4))]
        opt = getattr(torch.optim, name)(p)
        step = torch.compile(lambda: opt.step())
        for i in range(2):
            for x in p:
                x.grad = torch.randn_like(x) if i else torch.zeros_like(x)
            step()
        finite(*[x.detach() for x in p])


@program
def torch_checkpointed():
    import torch
    from torch.utils.checkpoint import checkpoint

    nn = torch.nn
    layer = nn.TransformerEncoderLayer(16, 2, 32, dropout=0.1, batch_first=True)
    train(lambda x: checkpoint(layer, x, use_reentrant=False).square().mean(), layer.parameters(), lambda: (torch.randn(2, 5, 16),), opt="AdamW", steps=2)


def main(names):
    if "PLANTED_MORE" in os.environ:
        sys.path += os.environ["PLANTED_MORE"].split(":")
    import torch

    torch.set_num_threads(1)
    for name in names or PROGRAMS:
        pid = os.fork()
        if not pid:
            torch.manual_seed(0)
            print(name, os.getpid(), flush=True)
            try:
                PROGRAMS[name]()
                said = "ran"
            except ModuleNotFoundError as e:
                said = "has no %s" % e.name
            except Exception as e:
                said = "failed: %s: %s" % (type(e).__name__, " ".join(str(e).split())[:300])
            print("# %s %s" % (name, said), flush=True)
            os._exit(0)
        os.waitpid(pid, 0)


if __name__ == "__main__":
    main(sys.argv[1:])
