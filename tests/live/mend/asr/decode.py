def greedy(logp, lengths, blank=0):
    out = []
    for row, n in zip(logp.argmax(-1).tolist(), lengths.tolist()):
        text, last = [], blank
        for t in row[:n]:
            if t != blank and t != last:
                text.append(t)
            last = t
        out.append(text)
    return out
