from .streams import Event
