"""torch._inductor, as much as is needed."""
