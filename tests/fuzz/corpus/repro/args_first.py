args = [5]
class R:
  def forward(self, a):
    return (a,)