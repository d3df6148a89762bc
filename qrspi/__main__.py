from qrspi.cli import main

main()
