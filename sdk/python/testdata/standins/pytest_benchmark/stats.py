class Stats:
    def __init__(self):
        self.data = []

    def update(self, duration):
        self.data.append(duration)


class Metadata:
    def __init__(self, fixture, iterations, options):
        self.name, self.fullname, self.iterations, self.stats = fixture.name, fixture.fullname, iterations, Stats()

    def update(self, duration):
        self.stats.update(duration / self.iterations)
