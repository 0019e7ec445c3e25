"""Models on this computer: GGUF files that the user added, served by llama.cpp, a process each."""
