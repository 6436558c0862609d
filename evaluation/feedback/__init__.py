"""What people say of answers: marks, where they are kept, and the labelled questions that they become."""
