import source

class Oracle:
    tests, known = 0, {}
    def over(self):
        return False
    def fails(self, text):
        self.tests += text not in self.known
        self.known[text] = "bad(" in text and "def f" in text
        return self.known[text]

text = """import os
def g():
    return 1
def f(x):
    y = 0
    for i in range(3):
        if i > 1:
            with open(os.devnull) as h:
                y = 2 + bad(x, i)
        else:
            y = 3
    return y
class C:
    pass
print(f(g()), g())
"""
oracle = Oracle()
print(source.reduce_source(source.text_of(source.ast.parse(text)), oracle, lambda *_: None).strip().replace("\n", "|"))
print(oracle.tests < 120)
