"""Other corpora: readers of their files, and the folder of a corpus whose systems rank a catalogue."""
