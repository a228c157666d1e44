"""The routes, by resource. Each file says what is asked and answered, and leaves the work to the modules above."""
