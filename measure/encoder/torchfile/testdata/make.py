"""Writes the files of this folder: the weights of a tiny BERT with random
values, three times. Needs PyTorch (Debian's python3-torch).

  zip.bin            torch.save, the form since PyTorch 1.6
  old.bin            torch.save, the form before it
  model.safetensors  written here by hand

The weights have what is found in checkpoints: the prefix "bert.", tensors with
strides (as those converted from TensorFlow), a decoder tied to the embedding,
parameters, slices of a larger storage, halves, integers, empty tensors.
"""

import json
import struct
from collections import OrderedDict

import torch

HIDDEN, INNER, VOCAB, POSITIONS, LAYERS = 8, 12, 11, 10, 2

random = torch.Generator().manual_seed(14)


def normal(*shape, mean=0.0, sd=0.2):
    return mean + sd * torch.randn(*shape, generator=random)


state = OrderedDict()


def linear(name, rows, columns):
    # The attention's weights are transposed views, as after a conversion.
    weight = normal(columns, rows).t() if "attention" in name else normal(rows, columns)
    state[name + ".weight"], state[name + ".bias"] = weight, normal(rows)


def norm(name):
    state[name + ".weight"], state[name + ".bias"] = normal(HIDDEN, mean=1.0), normal(HIDDEN)


both = normal(VOCAB + POSITIONS, HIDDEN)  # one storage for two tensors
state["bert.embeddings.position_ids"] = torch.arange(POSITIONS).expand((1, -1))
state["bert.embeddings.word_embeddings.weight"] = both[:VOCAB]
state["bert.embeddings.position_embeddings.weight"] = both[VOCAB:]
state["bert.embeddings.token_type_embeddings.weight"] = normal(2, HIDDEN).half()
norm("bert.embeddings.LayerNorm")
for i in range(LAYERS):
    layer = f"bert.encoder.layer.{i}."
    for part in ("query", "key", "value"):
        linear(layer + "attention.self." + part, HIDDEN, HIDDEN)
    linear(layer + "attention.output.dense", HIDDEN, HIDDEN)
    norm(layer + "attention.output.LayerNorm")
    linear(layer + "intermediate.dense", INNER, HIDDEN)
    linear(layer + "output.dense", HIDDEN, INNER)
    norm(layer + "output.LayerNorm")
last = f"bert.encoder.layer.{LAYERS - 1}.output.dense"
state[last + ".weight"] = normal(2 * HIDDEN, 2 * INNER)[::2, 1::2]
state[last + ".bias"] = state[last + ".bias"].to(torch.bfloat16)
state["cls.decoder.weight"] = state["bert.embeddings.word_embeddings.weight"]
state["cls.bias"] = torch.nn.Parameter(normal(VOCAB))
state["cls.scalar"] = torch.tensor(-1.5)
state["cls.none"] = torch.zeros(0, 3)
state["cls.double"] = normal(2).double()
state["cls.mask"] = torch.tensor([True, False, True])
state["cls.repeated"] = torch.tensor([2.5, -3.5]).expand(3, 2)
state._metadata = OrderedDict({"": {"version": 1}, "bert": {"version": 1}})

torch.save(state, "zip.bin")
torch.save(state, "old.bin", _use_new_zipfile_serialization=False)

names = {torch.float32: "F32", torch.float64: "F64", torch.float16: "F16", torch.bfloat16: "BF16", torch.int64: "I64", torch.bool: "BOOL"}
header, data = {}, b""
for name, tensor in state.items():
    values = bytes(tensor.detach().contiguous().clone().storage().untyped().tolist())
    header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(values)]}
    data += values
text = json.dumps(header, separators=(",", ":")).encode()
with open("model.safetensors", "wb") as file:
    file.write(struct.pack("<Q", len(text)) + text + data)

with open("config.json", "w") as file:
    json.dump({"model_type": "bert", "hidden_act": "gelu", "hidden_size": HIDDEN, "intermediate_size": INNER, "num_attention_heads": 1,
               "num_hidden_layers": LAYERS, "vocab_size": VOCAB, "type_vocab_size": 2, "max_position_embeddings": POSITIONS}, file)
    file.write("\n")
