"""Where a key is used: subscripts and calls on caches, locks, Redis, rate limiters, object stores and paths."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import Enum

from .expressions import chain_end, chain_of
from .words import every, words


class Family(Enum):
    """What kind of place a key reaches."""

    CACHE = "cache"
    REDIS = "redis"
    LOCK = "lock"
    RATE = "rate"
    STORE = "store"  # a mapping called a store: only text put together by hand is a key there
    PATH = "path"


@dataclass(frozen=True, slots=True)
class Sink:
    """One use of a key: what kind of place, how it is told, the expressions that are the key, what holds it."""

    family: Family
    told: str
    keys: tuple[ast.expr, ...]
    holder: str = ""


MadeBy = Callable[[ast.expr], str]
"""The dotted name of the call or annotation an object came from, empty where unknown."""

_CACHE = every("cache caches cached memo memos memoized memoize lru lrucache ttlcache memcache memcached")
_REDIS = every("redis valkey aioredis strictredis dragonfly keydb")
_REDIS_MAKERS = every("from_url master_for slave_for create_redis create_redis_pool client Client Connection")
_RATE = every("limiter limiters ratelimit ratelimits ratelimiter throttle throttler throttles quota quotas")
_LOCK = every("lock locks mutex mutexes semaphore semaphores redlock filelock rlock")
_STORE = every("store storage kv")
# A name that ends so is about a cache, not one: `cache_dir`, `cache_config`, `cache_control`.
_ABOUT = every(
    "dir dirs path paths file files folder config configs settings key keys control size ttl policy info stats "
    "name type timeout headers header enabled options option args kwargs params prefix version id hit hits "
    "miss misses token error errors response result results max min len count test tests module entry entries "
    "limit requests request"
)
_CLIENTS = every("client conn connection backend instance default raw db async sync")

_MAPPING = every(
    "get set setdefault pop delete add touch incr decr put fetch get_or_set get_or_create has_key exists "
    "expire contains evict invalidate get_many set_many delete_many multi_get multi_set aget aset aadd adelete "
    "aget_or_set aincr atouch ahas_key get_async set_async peek push read write store load lookup remember "
    "forget"
)
_FIRST_OF_CACHES = frozenset({"get_or_set", "aget_or_set", "cache_get", "cache_set"})
_REDIS_KEY = every(
    "get set setex psetex setnx getset getdel getex hget hset hsetnx hmset hmget hgetall hdel hincrby "
    "hincrbyfloat hexists hkeys hvals hlen hscan hscan_iter incr incrby incrbyfloat decr decrby expire pexpire "
    "expireat pexpireat ttl pttl persist type lpush rpush lpushx rpushx lpop rpop lrange llen ltrim lrem "
    "lindex lset linsert sadd srem smembers sismember scard spop srandmember sscan sscan_iter zadd zrem zrange "
    "zrevrange zrangebyscore zscore zcard zcount zincrby zrank zrevrank zremrangebyscore zremrangebyrank zscan "
    "zscan_iter publish spublish append strlen getrange setrange setbit getbit bitcount pfadd pfcount geoadd "
    "georadius xadd xlen xrange xrevrange xtrim xdel xack xgroup_create dump restore sort keys scan_iter move "
    "object"
)
_REDIS_KEYS = every(
    "delete unlink exists mget mset msetnx subscribe psubscribe watch touch rename renamenx eval evalsha blpop "
    "brpop pfmerge sinter sunion sdiff"
)
# Methods no other client has, so that a bare `pipe` or `r` is known by them.
_ONLY_REDIS = every(
    "setex psetex setnx hset hget hgetall hdel hincrby hmset hmget incrby pexpire expireat zadd zrem zrange "
    "zrangebyscore zincrby zremrangebyscore sadd srem smembers sismember lpush rpush lrange pfadd xadd setbit "
    "evalsha"
)
_RATE_METHODS = every(
    "hit test check consume acquire allow is_allowed allowed allow_request limit incr increment try_acquire "
    "take ratelimit get_window_stats peek reset clear get set request spend admit throttle attempt"
)
_OBJECT_KEYWORDS = frozenset({"Key", "Prefix", "key", "blob", "blob_name", "object_name", "prefix", "source_blob_name"})
_OBJECT_METHODS = every(
    "put_object get_object delete_object head_object copy_object upload_file upload_fileobj download_file "
    "download_fileobj list_objects list_objects_v2 create_multipart_upload generate_presigned_url "
    "generate_presigned_post fput_object fget_object get_object_attributes stat_object remove_object "
    "presigned_get_object presigned_put_object blob get_blob get_blob_client upload_blob download_blob "
    "delete_blob list_blobs upload_from_filename"
)
_OPENERS = frozenset({"open", "open_async", "fsspec.open", "io.open", "aiofiles.open", "gzip.open", "codecs.open"})
_FILE_SYSTEM = every("makedirs mkdir listdir remove unlink rmtree rmdir rename replace scandir")
_KEY_FUNCTIONS = frozenset({"key", "key_builder", "key_func", "keyfunc", "key_function", "key_maker", "make_key"})
_KEY_KEYWORDS = (
    "key",
    "name",
    "keys",
    "identifier",
    "resource",
    "lock_name",
    "lock_key",
    "match",
    "channel",
    "pattern",
)


def sinks(node: ast.AST, made_by: MadeBy) -> Iterator[Sink]:
    """The uses of keys that one expression is; those inside it are not looked at."""
    if isinstance(node, ast.Subscript):
        family = _family(node.value, made_by)
        if family is not None and not isinstance(node.slice, ast.Slice):
            told = f"{_told(node.value)}[…]"
            yield Sink(Family.CACHE if family is Family.REDIS else family, told, (node.slice,), chain_end(node.value))
    elif isinstance(node, ast.Compare):
        for operator, right in zip(node.ops, node.comparators, strict=True):
            family = _family(right, made_by) if isinstance(operator, ast.In | ast.NotIn) else None
            if family is not None:
                yield Sink(family, f"… in {_told(right)}", (node.left,), chain_end(right))
    elif isinstance(node, ast.Call):
        yield from _of_call(node, made_by)


def _of_call(node: ast.Call, made_by: MadeBy) -> Iterator[Sink]:
    called = chain_of(node.func)
    end = called[-1] if called else ""
    told = f"{'.'.join(called[-2:])}(…)"
    named = tuple(each.value for each in node.keywords if each.arg in _KEY_KEYWORDS)
    first = tuple(node.args[:1]) or named
    makers = tuple(each.value for each in node.keywords if each.arg in _KEY_FUNCTIONS)
    if makers and (about := _words_family(called[-2:])) is not None:
        yield Sink(about, told, makers)
    if end in _OBJECT_METHODS:
        keys = tuple(each.value for each in node.keywords if each.arg in _OBJECT_KEYWORDS)
        texts = tuple(each for each in node.args if not isinstance(each, ast.Constant))
        yield Sink(Family.PATH, told, (*keys, *texts))
    elif end == "Object" and "Object" in called[1:]:
        yield Sink(Family.PATH, told, tuple(node.args))
    elif end in _OPENERS or ".".join(called[-2:]) in _OPENERS:
        if len(called) == 1 or called[0] not in ("self", "webbrowser", "urllib", "Image"):
            yield Sink(Family.PATH, told, tuple(node.args[:1]))
    elif end in _FILE_SYSTEM and called[0] in ("os", "shutil"):
        yield Sink(Family.PATH, told, tuple(node.args[:2]))
    elif (last := words(end)[-1:]) and last[0] in _LOCK and "un" not in words(end):
        yield Sink(Family.LOCK, told, first)
    elif isinstance(node.func, ast.Attribute):
        yield from _of_method(node, node.func, told, first, named, made_by)
    elif _is_rate(end):
        yield Sink(Family.RATE, told, (*node.args, *named))
    elif end in _FIRST_OF_CACHES:
        yield Sink(Family.CACHE, told, first)


def _of_method(
    node: ast.Call,
    function: ast.Attribute,
    told: str,
    first: tuple[ast.expr, ...],
    named: tuple[ast.expr, ...],
    made_by: MadeBy,
) -> Iterator[Sink]:
    method = function.attr
    holder = chain_end(function.value)
    family = _family(function.value, made_by)
    if method in _ONLY_REDIS and family in (None, Family.CACHE, Family.STORE):
        family = Family.REDIS
    if family is Family.REDIS:
        if method in _REDIS_KEYS:
            yield Sink(family, told, (*_flat(node.args), *named), holder)
        elif method in _REDIS_KEY:
            yield Sink(family, told, first, holder)
    elif family is Family.RATE and method in _RATE_METHODS:
        yield Sink(family, told, (*node.args, *named))
    elif family in (Family.CACHE, Family.LOCK, Family.STORE) and method in _MAPPING:
        yield Sink(family, told, tuple(_flat(list(first))), holder)
    elif method in _FIRST_OF_CACHES:
        yield Sink(Family.CACHE, told, first)
    elif method == "get_or_create":  # of dogpile; a table's takes its columns by keyword
        yield Sink(Family.CACHE, told, tuple(node.args[:1]))
    elif _is_rate(method):
        yield Sink(Family.RATE, told, (*node.args, *named))


def _family(node: ast.expr, made_by: MadeBy) -> Family | None:
    chain = list(chain_of(node))
    if isinstance(node, ast.Subscript) and len(chain) > 1 and isinstance(node.slice, ast.Constant):
        found = _words_family(chain[-2:-1])  # `caches["default"]`
        if found is not None:
            return found
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "pipeline":
        return _family(node.func.value, made_by)
    while len(chain) > 1 and set(words(chain[-1])) <= _CLIENTS:
        chain.pop()
    found = _words_family(chain[-1:])
    if found not in (None, Family.CACHE, Family.STORE) or isinstance(node, ast.Call):
        return found
    made = made_by(node).split(".")
    of_redis = made[-1] == "pipeline" or (_REDIS.intersection(made[:1]) and made[-1] in _REDIS_MAKERS)
    by_class = Family.REDIS if of_redis else _words_family(made[-1:])
    # what it is counts more than what it is called: `cache = Redis()`
    return by_class if by_class is Family.REDIS or found is None else found


def _words_family(names: tuple[str, ...] | list[str]) -> Family | None:
    for name in reversed(names):
        parts = words(name)
        if not parts or parts[-1] in _ABOUT:
            continue
        known = set(parts)
        if known & _REDIS:
            return Family.REDIS
        if known & _RATE or {"rate", "limiter"} <= known or {"rate", "limits"} <= known or name == "buckets":
            return Family.RATE
        if parts[-1] in _LOCK:
            return Family.LOCK
        if known & _CACHE:
            return Family.CACHE
        if parts[-1] in _STORE:
            return Family.STORE
    return None


def _is_rate(name: str) -> bool:
    known = set(words(name))
    return bool(known & {"ratelimit", "ratelimited", "throttle"}) or (
        "rate" in known and bool(known & {"limit", "limited"})
    )


def _flat(nodes: list[ast.expr]) -> Iterator[ast.expr]:
    """The members of a list or dict of keys, each by itself: `get_many([a, b])`, `mset({a: 1})`."""
    for node in nodes:
        if isinstance(node, ast.List | ast.Set):
            yield from node.elts
        elif isinstance(node, ast.Dict):
            yield from (key for key in node.keys if key is not None)
        elif isinstance(node, ast.ListComp | ast.SetComp | ast.GeneratorExp):
            yield node
        else:
            yield node


def _told(node: ast.expr) -> str:
    return ".".join(chain_of(node)[-2:]) or chain_end(node) or "…"
