from torch.cuda.streams import Event


def synchronize():
    pass
