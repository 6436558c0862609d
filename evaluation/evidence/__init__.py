"""Evidence sheets: whether the sources say what an answer says, claim by claim, decided by people.

Attachment is not support: that a claim has a citation says nothing about what the cited passage says.
"""
