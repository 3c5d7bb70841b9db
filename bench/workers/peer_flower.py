"""Flower's own SecAgg+, server and clients in one process: its workflow, its client mod, and nothing between them.

A grid that hands every message straight to the mod takes the place of the network. What the mods take is the clients'
time, what the workflow takes besides is the server's, and handing over is counted for neither.
"""

import copy
import io
import logging
import time
from types import SimpleNamespace

import numpy as np
from clock import SUMMED, THRESHOLD, emit
from flwr.app import ConfigRecord, Context, Message, RecordDict
from flwr.client.mod import secaggplus_mod
from flwr.common import Code, FitIns, FitRes, Status, ndarrays_to_parameters
from flwr.common.secure_aggregation.secaggplus_constants import RECORD_KEY_CONFIGS, Key, Stage
from flwr.compat.common import recorddict_compat as compat
from flwr.server.compat.legacy_context import LegacyContext
from flwr.server.strategy import FedAvg
from flwr.server.workflow import SecAggPlusWorkflow
from flwr.server.workflow.constant import MAIN_CONFIGS_RECORD, MAIN_PARAMS_RECORD
from flwr.server.workflow.constant import Key as WorkflowKey
from flwr.supercore.task_identity import TaskIdentity

PARTIES, ENTRIES, DROPPED = SUMMED
CLOCKS = time.perf_counter, time.process_time  # its Shamir starts threads: the kinder of the two counts

logging.disable(logging.CRITICAL)
TaskIdentity.run_id, TaskIdentity.node_id, TaskIdentity.task_id = 1, 1, 1  # what its launcher would set
vectors = np.random.default_rng(7).uniform(-1, 1, (PARTIES, ENTRIES))


def now():
    return np.array([clock() for clock in CLOCKS])


def context():
    return Context(run_id=1, node_id=0, node_config={}, state=RecordDict(), run_config={})


class Everybody(FedAvg):
    """Asks every party; they weigh the same."""

    def configure_fit(self, server_round, parameters, client_manager):
        return [(SimpleNamespace(node_id=i + 1), FitIns(parameters, {})) for i in range(PARTIES)]


class Straight:
    """The one method of a grid that the workflow calls. The last parties are gone once their keys are shared."""

    def __init__(self):
        self.contexts = [context() for _ in range(PARTIES)]
        self.clients = np.zeros((PARTIES, len(CLOCKS)))  # of each party, in its mod
        self.away = np.zeros(len(CLOCKS))  # in this method, so not the server's

    def send_and_receive(self, messages, *, timeout=None):
        start, replies = now(), []
        for message in messages:
            i = message.metadata.dst_node_id - 1
            message = copy.deepcopy(message)  # as a network would: the mod takes things out of what it is given
            late = message.content.config_records[RECORD_KEY_CONFIGS][Key.STAGE] in (
                Stage.COLLECT_MASKED_VECTORS,
                Stage.UNMASK,
            )
            if late and i >= PARTIES - DROPPED:
                continue
            begun = now()
            replies.append(secaggplus_mod(message, self.contexts[i], self.train))
            self.clients[i] += now() - begun
        self.away += now() - start
        return replies

    @staticmethod
    def train(message, _):
        mine = ndarrays_to_parameters([vectors[message.metadata.dst_node_id - 1]])
        fitted = FitRes(Status(Code.OK, ""), mine, num_examples=1, metrics={})
        return Message(compat.fitres_to_recorddict(fitted, keep_input=False), reply_to=message)


def whole_sum():
    """(server, slowest client), each by both clocks."""
    start = ndarrays_to_parameters([np.zeros(ENTRIES)])
    held = LegacyContext(context(), strategy=Everybody())
    held.state.config_records[MAIN_CONFIGS_RECORD] = ConfigRecord({WorkflowKey.CURRENT_ROUND: 1})
    held.state.array_records[MAIN_PARAMS_RECORD] = compat.parameters_to_arrayrecord(start, keep_input=True)
    grid = Straight()
    # A weight of one is the largest it may be, so that nothing of the quantisation is lost.
    workflow = SecAggPlusWorkflow(num_shares=1.0, reconstruction_threshold=THRESHOLD, max_weight=1.0)
    begun = now()
    workflow(grid, held)
    server = now() - begun - grid.away
    (mean,) = compat.arrayrecord_to_parameters(held.state.array_records[MAIN_PARAMS_RECORD], keep_input=True).tensors
    mean = np.load(io.BytesIO(mean))
    error = np.abs(mean - vectors[: PARTIES - DROPPED].mean(axis=0)).max()
    assert error < 1e-5, f"the mean is off by {error}"
    return server, grid.clients.max(axis=0)


server, client = (float(seconds.min()) for seconds in whole_sum())
emit("secure.flower", "flower", n=1, seconds=server, server=server, client=client)
