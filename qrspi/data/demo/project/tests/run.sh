exec "${PYTHON:-python3}" -m unittest discover -s tests
