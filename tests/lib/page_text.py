#!/usr/bin/env python3
"""page_text.py FILE : an HTML page as text, a line per row, paragraph, item and head."""
import html
import re
import sys

with open(sys.argv[1], encoding="utf-8") as f:
    text = f.read()
text = re.sub(r"<(script|style)[^>]*>.*?</\1>", "", text, flags=re.S)
text = re.sub(r"</(tr|p|li|h\d|article|section|summary)>", "\0", text)
for line in text.split("\0"):
    print(re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]*>", " ", line))).strip())
