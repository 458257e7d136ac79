"""A pid in, records out: pieces of text, each in a known format. The only room that touches other processes."""
