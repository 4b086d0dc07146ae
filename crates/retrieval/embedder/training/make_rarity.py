"""Makes rarity.txt, how rare English words are in talk, from the shipped table of the embedder.

   python make_rarity.py ../model.safetensors ../tokenizer.json ../rarity.txt

The training of the table left frequent words with short rows: over the exchanges of LoCoMo, the natural logarithm of the
share of exchanges that hold a word is about -0.9 - 2.0 * length of its row (row times scale). A line a word, sorted by bytes:
the word, a blank, minus that logarithm in tenths. Words that are rarer than RARE are left out: what is not in the table is
that rare. Needs numpy, safetensors and tokenizers."""
import sys
import numpy as np
from safetensors.numpy import load_file
from tokenizers import Tokenizer

RARE, COMMON = 9.2, 0.9     # 1 in 10,000 exchanges; 4 in 10
model, tokenizer, out = sys.argv[1:4]
table, tokenizer = load_file(model), Tokenizer.from_file(tokenizer)
length = np.linalg.norm(table['embeddings'].astype(np.float32) * table['weights'][:, None], axis=1)
lines = []
for word, number in tokenizer.get_vocab(False).items():
    surprise = max(COMMON, 0.9 + 2.0 * float(length[number]))
    if word.isalpha() and surprise < RARE: lines.append((word.encode(), round(10 * surprise)))
with open(out, 'wb') as f:
    for word, tenths in sorted(lines): f.write(b'%s %d\n' % (word, tenths))
