from .base import Head, Report
