"""What a person asked for, in a few words: the headline of a request, the words with which an agent
says it back, and the subject it gives to what is said next.
"""
