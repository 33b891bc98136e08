"""Which epsilon: error against privacy for a task, from public numbers or from a stand-in table."""

from simplexdp.planning.planner import Plan, Step, plan
from simplexdp.planning.tasks import TASKS

__all__ = ["TASKS", "Plan", "Step", "plan"]
