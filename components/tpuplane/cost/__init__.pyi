# The public names, once: lazy_loader reads them here, and so do editors and type checkers.
from .estimate import Amount as Amount
from .estimate import PlatformCost as PlatformCost
from .estimate import PoolCost as PoolCost
from .estimate import Sum as Sum
from .estimate import cost as cost
from .rates import Rate as Rate
from .rates import charging as charging
from .rates import citation as citation
