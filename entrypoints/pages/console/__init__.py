"""What the pages of the consoles and of one's own account share: their frames, lists, plots and files."""
