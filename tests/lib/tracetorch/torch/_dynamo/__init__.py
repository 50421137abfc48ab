resets = 0


def reset():
    global resets
    resets += 1
