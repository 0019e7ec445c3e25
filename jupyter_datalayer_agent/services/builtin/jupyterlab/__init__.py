"""``/jupyterlab``: what can be done in the page of JupyterLab itself."""
