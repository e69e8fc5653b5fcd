"""Question and search hits in, cited answer out: prompt, generation, checked citations, extractive answers."""

from ragpg.answering.answer import answer_question
from ragpg.answering.citations import check_citations
from ragpg.answering.extractive import LEAD_IN, SentenceEmbedder, extract_answer
from ragpg.answering.generate import Generation, Generator, OpenAIGenerator
from ragpg.answering.prompt import Message, PromptTemplate

__all__ = [
    "LEAD_IN",
    "Generation",
    "Generator",
    "Message",
    "OpenAIGenerator",
    "PromptTemplate",
    "SentenceEmbedder",
    "answer_question",
    "check_citations",
    "extract_answer",
]
