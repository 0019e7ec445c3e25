"""Where a notebook is: open in a page, or a file; one backend each."""
