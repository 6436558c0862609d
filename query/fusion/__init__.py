"""Fusion rules, one a file; each makes the scores of the legs comparable in its own way."""

from __future__ import annotations

from query.fusion.base import Fused, FusionRule, Scored, fuse
from query.fusion.dbsf import DistributionBased
from query.fusion.minmax import MinMax
from query.fusion.raw import RawScores
from query.fusion.rrf import ReciprocalRank
from query.fusion.zscore import ZScore
from query.profile import FusionSpec

__all__ = ["Fused", "FusionRule", "Scored", "fuse", "rule_for"]


def rule_for(spec: FusionSpec) -> FusionRule:
    """The rule that a profile names, with its constants."""
    match spec.rule:
        case "rrf":
            return ReciprocalRank(spec.rrf_k)
        case "minmax":
            return MinMax()
        case "zscore":
            return ZScore()
        case "dbsf":
            return DistributionBased()
        case "raw":
            return RawScores(spec.raw_c, spec.raw_s)
