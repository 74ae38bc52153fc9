package main

// instructionsFile is the run's file of rewritten instructions.
const instructionsFile = "instructions.yaml"
