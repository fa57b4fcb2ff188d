"""Write a random-weight model2vec model for a peer whose own cannot be had offline: `random_model.py FOLDER`.

36,000 word pieces of 256 numbers each. It runs in the peer's own environment.
"""

import string
import sys
from itertools import product

import numpy as np
from model2vec import StaticModel  # type: ignore[import-not-found]
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers  # type: ignore[import-not-found]

words = ["".join(letters) for length in (1, 2, 3) for letters in product(string.ascii_lowercase, repeat=length)]
pieces = ["[PAD]", "[UNK]", *string.punctuation]
pieces += [start + word for word in [*string.digits, *words] for start in ("", "##")]
vocabulary = {piece: at for at, piece in enumerate(pieces)}
tokenizer = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))  # noqa: S106
tokenizer.normalizer = normalizers.Lowercase()
tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
weights = np.random.default_rng(1).standard_normal((len(pieces), 256), dtype=np.float32)
StaticModel(weights, tokenizer).save_pretrained(sys.argv[1])
