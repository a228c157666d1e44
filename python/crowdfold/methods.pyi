"""Written by tools/stubs.py; do not edit."""

from typing import Any, Optional, Union

from ._base import Aggregator
from ._crowdkit import (
    LikeCrowdKit,
    StartedByFit,
    WeightedByFit,
    WithDifficulties,
    WithQualities,
    WithScores,
    WithSortedWeights,
    WithSpamming,
)

__all__ = [
    "MajorityVote",
    "OnePass",
    "TwoPass",
    "ThreePass",
    "FivePass",
    "Live",
    "SBIC",
    "Wawa",
    "ZeroBasedSkill",
    "IWMV",
    "CRH",
    "ZenCrowd",
    "OneCoinDawidSkene",
    "GLAD",
    "MACE",
    "MMSR",
    "KOS",
    "DawidSkene",
    "FastDawidSkene",
    "OptDawidSkene",
    "LFC",
    "IBCC",
    "EBCC",
    "BWA",
    "LAA",
    "BiLA",
]


class MajorityVote(WeightedByFit):
    """Majority vote: the class with the most labels.

    folklore.

    Parameters
    ----------
    default_skill : Optional[float], default None
        the skill of workers for whom fit(skills=) has none
    on_missing_skill : str, default 'error'
        for workers without a skill: error, ignore (their labels), or value (default_skill)
    alpha : float, default 2.0
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    beta : float, default 2.0
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    ties : str, default 'sorted'
        best class among equals: the first in sorted order, the first seen, or a seeded draw (sorted | first | random)
        Leave it, unless ties must be broken by chance or as on the command line.
    posterior : str, default 'one_coin'
        probabilities: of a model with one quality for the crowd, or shares of votes (one_coin | shares)
        Leave it, unless confidences are to be shares of votes.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: yes.
    """

    default_skill: Optional[float]
    on_missing_skill: str
    alpha: float
    beta: float
    ties: str
    posterior: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, default_skill: Optional[float] = None, on_missing_skill: str = 'error', *, alpha: float = 2.0,
                 beta: float = 2.0, ties: str = 'sorted', posterior: str = 'one_coin', random_state: Optional[int] = 0,
                 duplicates: str = 'last', n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class OnePass(Aggregator):
    """One pass: every worker's quality is a Beta posterior, updated after each task.

    Yang, Zhao, Bai, Liu, Li: A Light-weight, Effective and Efficient Model for Label Aggregation in Crowdsourcing (TKDD 2024).

    Parameters
    ----------
    alpha : float, default 2.0
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    beta : float, default 2.0
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    ties : str, default 'first'
        best class among equals: the first seen, or a seeded draw (first | random)
        Leave it, unless ties must be broken by chance or as on the command line.
    order : str, default 'given'
        tasks one after another as given, or in a seeded shuffle (given | shuffled)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: yes.
    """

    alpha: float
    beta: float
    ties: str
    order: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, alpha: float = 2.0, beta: float = 2.0, ties: str = 'first', order: str = 'given',
                 random_state: Optional[int] = 0, duplicates: str = 'last', n_jobs: Optional[int] = None,
                 verbose: Union[bool, int] = False) -> None: ...

class TwoPass(Aggregator):
    """Onepass, then every task judged again with the workers' final qualities.

    Yang, Zhao, Bai, Liu, Li: A Light-weight, Effective and Efficient Model for Label Aggregation in Crowdsourcing (TKDD 2024).

    Parameters
    ----------
    alpha : float, default 2.0
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    beta : float, default 2.0
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    ties : str, default 'first'
        best class among equals: the first seen, or a seeded draw (first | random)
        Leave it, unless ties must be broken by chance or as on the command line.
    order : str, default 'given'
        tasks one after another as given, or in a seeded shuffle (given | shuffled)
        Leave it.
    vote_rounds : int, default 0
        learn in rounds from a majority vote, not in the order of tasks; 0: in their order (0 to 1000)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: yes.
    """

    alpha: float
    beta: float
    ties: str
    order: str
    vote_rounds: int
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, alpha: float = 2.0, beta: float = 2.0, ties: str = 'first', order: str = 'given',
                 vote_rounds: int = 0, random_state: Optional[int] = 0, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class ThreePass(Aggregator):
    """Confusion rows with a strength learned from the data, in three passes; calibrated.

    crowdfold.

    Parameters
    ----------
    soften : Optional[float], default None
        factor of the temperature of answers; fitted to known truths unless set (0.05 to 10); None: 0.7 without them
        Leave it, unless you measured the calibration of its answers on truths.
    doubt : Optional[float], default None
        share of an answer's probability that all classes get alike; fitted to known truths unless set (0 to 0.9); None: 0.05 without them
        Leave it, unless you measured the calibration of its answers on truths.
    symmetry : float, default 16.0
        c0: larger values trust more that a whole crowd is better on some classes (0 to 1000000000)
        Leave it.
    crowd : float, default 20.0
        s1: weight of a symmetric crowd, in labels (0.001 to 1000000000)
        Leave it.
    own : float, default 5.0
        s2: weight of the crowd's accuracy, in labels (0.001 to 1000000000)
        Leave it.
    weakest : float, default 2.0
        smallest strength s of the prior of a worker's rows (1 to 128)
        Leave it.
    strongest : float, default 64.0
        largest strength s of that prior (1 to 128)
        Leave it.
    guard : float, default 0.01
        gain in nats per held-out label above which class shares count in full (0 to 1000000000)
        Leave it.
    passes : int, default 3
        passes over the labels; 1: the online method (1 to 100)
        Leave it.
    blocks : int, default 8
        blocks of tasks in the passes between first and last (1 to 10000)
        Leave it.
    warm : float, default 2.0
        how long a majority vote contributes at the beginning (0 to 1000000000)
        Leave it.
    refresh : float, default 0.5
        relative growth of a worker's labels after which their table is rebuilt (0 to 10)
        Leave it.
    order : str, default 'given'
        tasks one after another as given, or in a seeded shuffle (given | shuffled)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: yes.
    """

    soften: Optional[float]
    doubt: Optional[float]
    symmetry: float
    crowd: float
    own: float
    weakest: float
    strongest: float
    guard: float
    passes: int
    blocks: int
    warm: float
    refresh: float
    order: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, soften: Optional[float] = None, doubt: Optional[float] = None, symmetry: float = 16.0,
                 crowd: float = 20.0, own: float = 5.0, weakest: float = 2.0, strongest: float = 64.0,
                 guard: float = 0.01, passes: int = 3, blocks: int = 8, warm: float = 2.0, refresh: float = 0.5,
                 order: str = 'given', random_state: Optional[int] = 0, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class FivePass(Aggregator):
    """Confusion rows, and tasks that tell more or less, in rounds; calibrated.

    crowdfold.

    Parameters
    ----------
    soften : Optional[float], default None
        factor of the temperature of answers; fitted to known truths unless set (0.05 to 10); None: 0.7 without them
        Leave it, unless you measured the calibration of its answers on truths.
    doubt : Optional[float], default None
        share of an answer's probability that all classes get alike; fitted to known truths unless set (0 to 0.9); None: 0.05 without them
        Leave it, unless you measured the calibration of its answers on truths.
    symmetry : float, default 16.0
        c0: larger values trust more that a whole crowd is better on some classes (0 to 1000000000)
        Leave it.
    crowd : float, default 20.0
        s1: weight of a symmetric crowd, in labels (0.001 to 1000000000)
        Leave it.
    own : float, default 5.0
        s2: weight of the crowd's accuracy, in labels (0.001 to 1000000000)
        Leave it.
    weakest : float, default 2.0
        smallest strength s of the prior of a worker's rows (1 to 128)
        Leave it.
    strongest : float, default 64.0
        largest strength s of that prior (1 to 128)
        Leave it.
    guard : float, default 0.01
        gain in nats per held-out label above which class shares count in full (0 to 1000000000)
        Leave it.
    rounds : int, default 5
        rounds over the labels before the answers (1 to 100)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: no.
    """

    soften: Optional[float]
    doubt: Optional[float]
    symmetry: float
    crowd: float
    own: float
    weakest: float
    strongest: float
    guard: float
    rounds: int
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, soften: Optional[float] = None, doubt: Optional[float] = None, symmetry: float = 16.0,
                 crowd: float = 20.0, own: float = 5.0, weakest: float = 2.0, strongest: float = 64.0,
                 guard: float = 0.01, rounds: int = 5, random_state: Optional[int] = 0, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class Live(Aggregator):
    """One pass: learns how workers err and how many tasks are too hard; the stream judges by it.

    crowdfold.

    Parameters
    ----------
    alpha : float, default 4.0
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    beta : float, default 1.5
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    half_life : float, default 0.0
        a label counts half after this many more labels of its worker; 0: no fading (0 to 1000000000000000)
        Set it if workers change in time.
    order : str, default 'given'
        tasks one after another as given, or in a seeded shuffle (given | shuffled)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: yes.
    """

    alpha: float
    beta: float
    half_life: float
    order: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, alpha: float = 4.0, beta: float = 1.5, half_life: float = 0.0, order: str = 'given',
                 random_state: Optional[int] = 0, duplicates: str = 'last', n_jobs: Optional[int] = None,
                 verbose: Union[bool, int] = False) -> None: ...

class SBIC(Aggregator):
    """One pass for two classes: workers are credited with the probability of being right.

    Manino, Tran-Thanh, Jennings: Streaming Bayesian Inference for Crowdsourced Classification (NeurIPS 2019).

    Parameters
    ----------
    alpha : float, default 2.0
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    beta : float, default 1.0
        prior of worker quality: Beta(alpha, beta) (1 to 1000000000)
        Leave it.
    ties : str, default 'first'
        best class among equals: the first seen, or a seeded draw (first | random)
        Leave it, unless ties must be broken by chance or as on the command line.
    first : float, default 0.5
        prior probability of the class seen first (1e-06 to 0.999999)
        Leave it.
    order : str, default 'given'
        tasks one after another as given, or in a seeded shuffle (given | shuffled)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: yes.
    For 2 classes at most.
    """

    alpha: float
    beta: float
    ties: str
    first: float
    order: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, alpha: float = 2.0, beta: float = 1.0, ties: str = 'first', first: float = 0.5,
                 order: str = 'given', random_state: Optional[int] = 0, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class Wawa(WithSortedWeights):
    """A vote weighted by agreement with the majority.

    folklore.

    Parameters
    ----------
    ties : str, default 'sorted'
        best class among equals: the first in sorted order, the first seen, or a seeded draw (sorted | first | random)
        Leave it, unless ties must be broken by chance or as on the command line.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: no.
    """

    ties: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, ties: str = 'sorted', random_state: Optional[int] = 0, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class ZeroBasedSkill(WithSortedWeights):
    """Zero-based skill: weights that follow agreement with the weighted vote.

    Ustalov, Pavlichenko, Tseitlin: Learning from Crowds with Crowd-Kit (JOSS 2024).

    Parameters
    ----------
    n_iter : int, default 100
        steps (0 to 1000000)
        Raise it if `converged_` is False.
    lr_init : float, default 1.0
        initial rate: share of the way from a skill to the agreement (1e-06 to 1)
        Leave it.
    lr_steps_to_reduce : int, default 20
        steps between reductions of the rate (1 to 1000000)
        Leave it.
    lr_reduce_factor : float, default 0.5
        factor of each reduction (1e-06 to 1)
        Leave it.
    eps : float, default 1e-05
        initial excess of a skill over chance (0 to 1)
        Leave it.
    ties : str, default 'sorted'
        best class among equals: the first in sorted order, the first seen, or a seeded draw (sorted | first | random)
        Leave it, unless ties must be broken by chance or as on the command line.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: no.
    """

    n_iter: int
    lr_init: float
    lr_steps_to_reduce: int
    lr_reduce_factor: float
    eps: float
    ties: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, n_iter: int = 100, lr_init: float = 1.0, lr_steps_to_reduce: int = 20,
                 lr_reduce_factor: float = 0.5, eps: float = 1e-05, *, ties: str = 'sorted',
                 random_state: Optional[int] = 0, duplicates: str = 'last', n_jobs: Optional[int] = None,
                 verbose: Union[bool, int] = False) -> None: ...

class IWMV(Aggregator):
    """Votes weighted by agreement with the last vote, until nothing changes.

    Li, Yu: Error Rate Bounds and Iterative Weighted Majority Voting for Crowdsourcing (2014).

    Parameters
    ----------
    n_iter : int, default 20
        weighted votes at most (1 to 1000000)
        Raise it if `converged_` is False.
    ties : str, default 'first'
        best class among equals: the first seen, or a seeded draw (first | random)
        Leave it, unless ties must be broken by chance or as on the command line.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: no.
    """

    n_iter: int
    ties: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, n_iter: int = 20, ties: str = 'first', random_state: Optional[int] = 0,
                 duplicates: str = 'last', n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class CRH(Aggregator):
    """Votes weighted by the logarithm of a worker's share of all disagreement.

    Li, Li, Gao, Zhao, Fan, Han: Resolving Conflicts in Heterogeneous Data (SIGMOD 2014).

    Parameters
    ----------
    n_iter : int, default 100
        weighted votes at most (1 to 1000000)
        Raise it if `converged_` is False.
    smoothing : float, default 0.5
        wrong labels added to every worker's, and as many right ones (1e-06 to 1000000)
        Leave it.
    ties : str, default 'first'
        best class among equals: the first seen, or a seeded draw (first | random)
        Leave it, unless ties must be broken by chance or as on the command line.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: no.
    """

    n_iter: int
    smoothing: float
    ties: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, n_iter: int = 100, smoothing: float = 0.5, ties: str = 'first',
                 random_state: Optional[int] = 0, duplicates: str = 'last', n_jobs: Optional[int] = None,
                 verbose: Union[bool, int] = False) -> None: ...

class ZenCrowd(Aggregator):
    """ZenCrowd: one quality for every worker, by EM.

    Demartini, Difallah, Cudré-Mauroux: ZenCrowd (WWW 2012).

    Parameters
    ----------
    n_iter : int, default 20
        iterations at most (1 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 0.0
        stop when no probability moves by more; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    start : float, default 0.8
        probability of a right label to start from (0.01 to 0.99)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    start: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, n_iter: int = 20, tol: float = 0.0, start: float = 0.8, random_state: Optional[int] = 0,
                 duplicates: str = 'last', n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class OneCoinDawidSkene(WithQualities):
    """One-coin Dawid-Skene: one quality for every worker and a class prior, by EM.

    Zhang, Chen, Zhou, Jordan: Spectral Methods Meet EM (JMLR 2016).

    Parameters
    ----------
    n_iter : int, default 100
        iterations at most (0 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 1e-05
        stop when the log-likelihood per label grows by less; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    initial_error_strategy : Any, default None
        for scripts that pass it: only the default is accepted
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    initial_error_strategy: Any
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, n_iter: int = 100, tol: float = 1e-05, initial_error_strategy: Any = None, *,
                 random_state: Optional[int] = 0, duplicates: str = 'last', n_jobs: Optional[int] = None,
                 verbose: Union[bool, int] = False) -> None: ...

class GLAD(WithDifficulties):
    """Abilities of workers and difficulties of tasks, by EM.

    Whitehill, Ruvolo, Wu, Bergsma, Movellan: Whose Vote Should Count More (NIPS 2009).

    Parameters
    ----------
    n_iter : int, default 100
        iterations at most (0 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 1e-05
        stop when the log-likelihood per label grows by less; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    silent : bool, default True
        the opposite of verbose
    labels_priors : Any, default None
        probabilities of classes: a Series by label, or a dictionary
    alphas_priors_mean : Any, default None
        prior means of abilities: a Series by worker, or a dictionary
    betas_priors_mean : Any, default None
        prior means of the logarithm of ease: a Series by task, or a dictionary
    m_step_max_iter : int, default 25
        rounds of an M-step at most (1 to 1000000)
        Leave it.
    m_step_tol : float, default 0.01
        end an M-step when no derivative is larger (1e-09 to 1000000000)
        Leave it.
    ability : float, default 1.0
        prior mean of a worker's ability alpha (-100 to 100)
        Leave it.
    ease : float, default 1.0
        prior mean of the logarithm of a task's ease beta (-10 to 10)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    silent: bool
    labels_priors: Any
    alphas_priors_mean: Any
    betas_priors_mean: Any
    m_step_max_iter: int
    m_step_tol: float
    ability: float
    ease: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, n_iter: int = 100, tol: float = 1e-05, silent: bool = True, labels_priors: Any = None,
                 alphas_priors_mean: Any = None, betas_priors_mean: Any = None, m_step_max_iter: int = 25,
                 m_step_tol: float = 0.01, *, ability: float = 1.0, ease: float = 1.0, random_state: Optional[int] = 0,
                 duplicates: str = 'last', n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class MACE(WithSpamming):
    """Workers who know the class or spam in their own way, variational or by EM.

    Hovy, Berg-Kirkpatrick, Vaswani, Hovy: Learning Whom to Trust with MACE (NAACL-HLT 2013).

    Parameters
    ----------
    n_restarts : int, default 10
        random starts; the best one counts (1 to 100000)
        Raise it if answers hang on `random_state`.
    n_iter : int, default 50
        iterations at most (1 to 1000000)
        Raise it if `converged_` is False.
    method : str, default 'vb'
        how parameters are learned (variational | em)
        Leave it.
    smoothing : float, default 0.01
        em: K times the number added to every count (0 to 1000000000)
        Leave it.
    default_noise : float, default 1.5
        starts: numbers uniform between 1 and 1 plus this, normalised (0 to 1000000000)
        Leave it.
    alpha : float, default 0.5
        variational: prior count of labels given from knowledge (0.01 to 1000000000)
        Leave it.
    beta : float, default 0.5
        variational: prior count of spammed labels (0.01 to 1000000000)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.
    tol : float, default 0.0
        stop when the log-likelihood per label grows by less; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    strategy : float, default 10.0
        variational: prior count of every class among spammed labels (0.01 to 1000000000)
        Leave it.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    n_restarts: int
    n_iter: int
    method: str
    smoothing: float
    default_noise: float
    alpha: float
    beta: float
    random_state: Optional[int]
    verbose: Union[bool, int]
    tol: float
    strategy: float
    duplicates: str
    n_jobs: Optional[int]

    def __init__(self, n_restarts: int = 10, n_iter: int = 50, method: str = 'vb', smoothing: float = 0.01,
                 default_noise: float = 1.5, alpha: float = 0.5, beta: float = 0.5, random_state: Optional[int] = 0,
                 verbose: Union[bool, int] = False, *, tol: float = 0.0, strategy: float = 10.0,
                 duplicates: str = 'last', n_jobs: Optional[int] = None) -> None: ...

class MMSR(WithScores):
    """Skills from how often pairs of workers agree, then a vote weighted by log-odds.

    Ma, Olshevsky: Adversarial Crowdsourcing Through Robust Rank-One Matrix Completion (NeurIPS 2020).

    Parameters
    ----------
    n_iter : int, default 10000
        iterations at most (0 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 1e-10
        stop when the matrix of skills moves by less; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: no, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, n_iter: int = 10000, tol: float = 1e-10, random_state: Optional[int] = 0, *,
                 duplicates: str = 'last', n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class KOS(LikeCrowdKit):
    """Messages between tasks and workers, for two classes.

    Karger, Oh, Shah: Iterative Learning for Reliable Crowdsourcing Systems (NIPS 2011).

    Parameters
    ----------
    n_iter : int, default 100
        rounds of messages (1 to 1000000)
        Raise it if `converged_` is False.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: no, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    For 2 classes at most.
    """

    n_iter: int
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, n_iter: int = 100, random_state: Optional[int] = 0, *, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class DawidSkene(StartedByFit):
    """Dawid-Skene: a confusion matrix for every worker, by EM.

    Dawid, Skene: Maximum Likelihood Estimation of Observer Error-Rates Using the EM Algorithm (Applied Statistics 1979).

    Parameters
    ----------
    n_iter : int, default 20
        iterations at most (0 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 0.0
        stop when no probability moves by more; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    initial_error_strategy : Optional[str], default None
        meaning of fit(initial_error=): matrices to start from (assign), or counts added to a vote's (addition)
    start : float, default 0.0
        probability of a right label to start from; 0: start from shares of votes (0 to 0.99)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    initial_error_strategy: Optional[str]
    start: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, n_iter: int = 20, tol: float = 0.0, initial_error_strategy: Optional[str] = None, *,
                 start: float = 0.0, random_state: Optional[int] = 0, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class FastDawidSkene(Aggregator):
    """Dawid-Skene with a hard decision on every task in between: a few iterations.

    Sinha, Rao, Balasubramanian: Fast Dawid-Skene (2018).

    Parameters
    ----------
    n_iter : int, default 100
        iterations at most (1 to 1000000)
        Raise it if `converged_` is False.
    ties : str, default 'first'
        best class among equals: the first seen, or a seeded draw (first | random)
        Leave it, unless ties must be broken by chance or as on the command line.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    n_iter: int
    ties: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, n_iter: int = 100, ties: str = 'first', random_state: Optional[int] = 0,
                 duplicates: str = 'last', n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class OptDawidSkene(Aggregator):
    """Dawid-Skene by EM, started from moments of the labels (spectral).

    Zhang, Chen, Zhou, Jordan: Spectral Methods Meet EM (NIPS 2014; JMLR 2016).

    Parameters
    ----------
    n_iter : int, default 20
        iterations at most (1 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 0.0
        stop when no probability moves by more; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    least : float, default 0.3
        least probability of a label in the matrices to start from, in units of 1 / K (1e-09 to 1)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    least: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, n_iter: int = 20, tol: float = 0.0, least: float = 0.3, random_state: Optional[int] = 0,
                 duplicates: str = 'last', n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class LFC(Aggregator):
    """Learning from crowds: Dawid-Skene with a prior on confusion matrices.

    Raykar, Yu, Zhao, Valadez, Florin, Bogoni, Moy: Learning From Crowds (JMLR 2010).

    Parameters
    ----------
    n_iter : int, default 20
        iterations at most (1 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 0.0
        stop when no probability moves by more; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    right : float, default 0.0
        right labels added to every worker's, per class (0 to 1000000000)
        Leave it.
    wrong : float, default 0.0
        wrong labels added to every worker's, per class and wrong class (0 to 1000000000)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    right: float
    wrong: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, n_iter: int = 20, tol: float = 0.0, right: float = 0.0, wrong: float = 0.0,
                 random_state: Optional[int] = 0, duplicates: str = 'last', n_jobs: Optional[int] = None,
                 verbose: Union[bool, int] = False) -> None: ...

class IBCC(Aggregator):
    """Bayesian Dawid-Skene: priors on confusion matrices and classes, variational.

    Kim, Ghahramani: Bayesian Classifier Combination (AISTATS 2012).

    Parameters
    ----------
    n_iter : int, default 500
        iterations at most (1 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 0.001
        stop when no probability moves by more; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    right : float, default 4.0
        prior of confusion matrices: Dirichlet, on the diagonal (0.001 to 1000000000)
        Leave it.
    wrong : float, default 1.0
        prior of confusion matrices: Dirichlet, off the diagonal (0.001 to 1000000000)
        Leave it.
    classes : float, default 1.0
        prior of the classes: Dirichlet (0.001 to 1000000000)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    right: float
    wrong: float
    classes: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, n_iter: int = 500, tol: float = 0.001, right: float = 4.0, wrong: float = 1.0,
                 classes: float = 1.0, random_state: Optional[int] = 0, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class EBCC(Aggregator):
    """Bayesian Dawid-Skene with subtypes of classes, on which workers err alike; variational.

    Li, Rubinstein, Cohn: Exploiting Worker Correlation for Label Aggregation in Crowdsourcing (ICML 2019).

    Parameters
    ----------
    n_iter : int, default 500
        iterations at most (1 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 0.001
        stop when no probability moves by more; 0: after all iterations (0 to 1)
        Leave it; to have all iterations, set 0.
    subtypes : int, default 10
        subtypes of every class (1 to 1000)
        Leave it.
    n_restarts : int, default 10
        random starts; the best one counts (1 to 100000)
        Raise it if answers hang on `random_state`.
    right : float, default 4.0
        prior of confusion matrices: Dirichlet, on the diagonal (0.001 to 1000000000)
        Leave it.
    wrong : float, default 1.0
        prior of confusion matrices: Dirichlet, off the diagonal (0.001 to 1000000000)
        Leave it.
    subtype_prior : float, default 0.1
        prior of the subtypes of a class: Dirichlet, sum of its parameters (1e-06 to 1000000000)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: yes, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    subtypes: int
    n_restarts: int
    right: float
    wrong: float
    subtype_prior: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, n_iter: int = 500, tol: float = 0.001, subtypes: int = 10, n_restarts: int = 10,
                 right: float = 4.0, wrong: float = 1.0, subtype_prior: float = 0.1, random_state: Optional[int] = 0,
                 duplicates: str = 'last', n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class BWA(Aggregator):
    """Weighted averages: every class against the rest, workers with a variance.

    Li, Rubinstein, Cohn: Truth Inference at Scale (WWW 2019).

    Parameters
    ----------
    n_iter : int, default 500
        iterations at most (1 to 1000000)
        Raise it if `converged_` is False.
    tol : float, default 0.001
        stop when the values of every class change by less, relative to their size (0 to 1)
        Leave it; to have all iterations, set 0.
    lambda_ : float, default 1.0
        how strongly a task's value is drawn to the mean of all (1e-06 to 1000000000)
        Leave it.
    a : float, default 15.0
        weight of the prior of a worker's precision, in labels (1e-06 to 1000000000)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    n_iter: int
    tol: float
    lambda_: float
    a: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, n_iter: int = 500, tol: float = 0.001, lambda_: float = 1.0, a: float = 15.0,
                 random_state: Optional[int] = 0, duplicates: str = 'last', n_jobs: Optional[int] = None,
                 verbose: Union[bool, int] = False) -> None: ...

class LAA(Aggregator):
    """A label-aware autoencoder: a network from labels to classes, and one back.

    Yin, Han, Zhang, Yu: Aggregating Crowd Wisdoms with Label-aware Autoencoders (IJCAI 2017).

    Parameters
    ----------
    imitation : int, default 50
        steps of phase 1, in which the encoder learns to repeat the votes (0 to 1000000)
        Leave it.
    n_iter : int, default 100
        steps of phase 2 (1 to 1000000)
        Raise it if `converged_` is False.
    rate : float, default 0.005
        learning rate of Adam (1e-09 to 1)
        Leave it.
    divergence : float, default 0.0001
        weight of the divergence from the votes (0 to 1000000000)
        Leave it.
    sparsity : float, default 0.005
        weight of the encoder's mean |weight| (0 to 1000000000)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: no.
    """

    imitation: int
    n_iter: int
    rate: float
    divergence: float
    sparsity: float
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, imitation: int = 50, n_iter: int = 100, rate: float = 0.005, divergence: float = 0.0001,
                 sparsity: float = 0.005, random_state: Optional[int] = 0, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...

class BiLA(Aggregator):
    """A network and a confusion matrix per worker, learned together, chunk by chunk.

    Hong, Ghiassi, Zhou, Birke, Chen: Online Label Aggregation: A Variational Bayesian Approach (WWW 2021).

    Parameters
    ----------
    epochs : int, default 20
        epochs on every chunk (0 to 1000000)
        Leave it.
    start_epochs : int, default 20
        additional epochs on the first chunk (0 to 1000000)
        Leave it.
    batch : int, default 50
        tasks per step (1 to 1000000)
        Leave it.
    rate : float, default 0.0001
        learning rate of RMSProp (1e-09 to 1)
        Leave it.
    divergence : float, default 0.1
        weight of the divergence from the shares of labels (0 to 1000000000)
        Leave it.
    hidden : int, default 64
        width of the first hidden layer (1 to 1024)
        Leave it.
    hidden_2 : int, default 32
        width of the second hidden layer (1 to 1024)
        Leave it.
    chunk : int, default 1000
        tasks per chunk when labels are not held in memory (1 to 1000000)
        Leave it.
    order : str, default 'given'
        tasks one after another as given, or in a seeded shuffle (given | shuffled)
        Leave it.
    random_state : Optional[int], default 0
        seed of everything that is drawn
        Change it to see which answers hang on chance.
    duplicates : str, default 'last'
        a worker's second label on a task: last | first | error | keep
        Set it if workers may label a task twice.
    n_jobs : Optional[int], default None
        threads; None: all cores. Results do not depend on it
        Leave it, unless others need the cores.
    verbose : Union[bool, int], default False
        show progress
        Turn it on for a fit that takes its time.

    Takes known truths: yes, worker qualities of an earlier run: no, chunks, by partial_fit: yes.
    """

    epochs: int
    start_epochs: int
    batch: int
    rate: float
    divergence: float
    hidden: int
    hidden_2: int
    chunk: int
    order: str
    random_state: Optional[int]
    duplicates: str
    n_jobs: Optional[int]
    verbose: Union[bool, int]

    def __init__(self, *, epochs: int = 20, start_epochs: int = 20, batch: int = 50, rate: float = 0.0001,
                 divergence: float = 0.1, hidden: int = 64, hidden_2: int = 32, chunk: int = 1000,
                 order: str = 'given', random_state: Optional[int] = 0, duplicates: str = 'last',
                 n_jobs: Optional[int] = None, verbose: Union[bool, int] = False) -> None: ...
