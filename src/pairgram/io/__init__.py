"""Files and other libraries' objects, as arrays: knows neither graphs nor models."""
