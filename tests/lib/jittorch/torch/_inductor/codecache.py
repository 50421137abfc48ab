"""PyCodeCache, as much as is needed."""


class PyCodeCache:
    linemaps = {}
