import torch, transformers

cfg = transformers.ViTConfig(hidden_size=32, num_hidden_layers=1, num_attention_heads=2, intermediate_size=64, image_size=32, patch_size=16, num_labels=3)
net = torch.compile(transformers.ViTForImageClassification(cfg).eval(), backend="aot_eager")
with torch.no_grad():
    for i in range(3):
        net(torch.randn(2, 3, 32, 32))
