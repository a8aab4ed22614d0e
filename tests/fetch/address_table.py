"""Addresses and chains, each with what must become of it. The table in docs/security.md is made from this.

`OPEN` means fetched; any other outcome is the rule that must refuse it.
"""

from dataclasses import dataclass, field

OPEN = "opened"


@dataclass(frozen=True)
class Case:
    """`dns` maps a name to its successive answers; `redirects` maps an address to where it redirects."""

    group: str
    address: str
    outcome: str
    dns: dict[str, list[list[str]]] = field(default_factory=dict)
    redirects: dict[str, str] = field(default_factory=dict)

    @property
    def shown(self) -> str:
        parts = [_plain(self.address)]
        parts += [
            f"{name} = {' then '.join(' + '.join(answer) for answer in answers)}" for name, answers in self.dns.items()
        ]
        parts += [f"→ {_plain(target)}" for target in self.redirects.values()]
        return " ; ".join(parts)


def _plain(text: str) -> str:
    return "".join(char if " " <= char <= "~" else ascii(char)[1:-1] for char in text)


def _each(group: str, outcome: str, *addresses: str) -> list[Case]:
    return [Case(group, address, outcome) for address in addresses]


def _named(group: str, outcome: str, *ips: str) -> list[Case]:
    return [
        Case(group, f"http://host{number}.test/", outcome, {f"host{number}.test": [[ip]]})
        for number, ip in enumerate(ips)
    ]


def _sent(group: str, outcome: str, *targets: str) -> list[Case]:
    start = "http://start.test/go"
    return [Case(group, start, outcome, redirects={start: target}) for target in targets]


ORDINARY = "Ordinary addresses"
SCHEME = "Other schemes"
FORM = "Not a whole web address"
LOOPBACK = "Loopback"
NUMBERS = "Numbers that stand for IPv4 addresses"
PRIVATE = "Private, link-local, shared and reserved IPv4"
METADATA = "Cloud metadata services"
IPV6 = "IPv6: local and reserved"
CARRIED = "IPv6 that carries an IPv4 address"
USERINFO = "User names before the host"
CHARACTERS = "Backslashes, spaces, control and invisible characters"
PERCENT = "Percent-encoded hosts and zone ids"
INTERNATIONAL = "International names and look-alike digits"
INSIDE = "Names of internal networks"
PORTS = "Ports"
HOSTS = "Malformed hosts"
DNS = "Names that lead inside"
REBINDING = "Names whose answer changes (DNS rebinding)"
REDIRECTS = "Redirects that lead inside or astray"
CHAINS = "Long and circular redirect chains"

CASES: list[Case] = [
    *_each(
        ORDINARY, OPEN,
        "http://example.com/", "https://example.com", "HTTP://EXAMPLE.COM/", "http://example.com./", "http://example.com:80/a",
        "http://example.com:8080/", "http://sub.domain.example.com/a/b?c=d&e=f", "http://example.com/a b", "http://example.com/ä?ö=ü",
        "http://example.com/?u=http://127.0.0.1/", "http://example.com/@user", "http://example.com/a:b@c", "http://example.com/#@127.0.0.1",
        "http://1.1.1.1/", "http://8.8.8.8:8000/", "http://[2606:4700:4700::1111]/", "http://127.0.0.1.example.com/", "http://localhost.example.com/",
        "http://10.example.com/", "http://0x7f.example.com/", "http://my_host.example.com/", "http://xn--bcher-kva.example/", "http://bücher.example/",
        "http://例え.テスト/", "  http://example.com/  ", "http://example.com/a/../b", "http://example.com:/", "http://a-b.example.com/%2e%2e/x",
    ),
    *_each(
        SCHEME, "scheme",
        "file:///etc/passwd", "ftp://example.com/", "gopher://127.0.0.1:6379/_INFO", "data:text/html,hi", "javascript:alert(1)", "dict://127.0.0.1:11211/",
        "ldap://127.0.0.1/", "ssh://127.0.0.1", "mailto:a@example.com", "ws://example.com/", "wss://example.com/", "blob:http://example.com/1",
        "view-source:http://example.com/", "jar:http://example.com/a.jar!/", "about:blank", "chrome://settings", "FILE:///C:/x", "unix:/var/run/docker.sock",
        "http+unix://%2Fvar%2Frun%2Fdocker.sock/", "netdoc:///etc/passwd", "feed:http://example.com/",
    ),
    *_each(
        FORM, "form",
        "http:example.com", "http:/example.com", "http:///example.com", "http:////127.0.0.1/", "//example.com/", "example.com", "/etc/passwd", "?q=1",
        "https:127.0.0.1", "http", "http:", "http;//example.com", "ｈttp://example.com/",
    ),
    *_each(FORM, "length", "", "   ", "http://example.com/" + "a" * 8_000),
    *_each(FORM, "host", "http://", "http://?q=1", "http://#x", "https://:443/", "http://."),
    *_each(
        LOOPBACK, "loopback",
        "http://127.0.0.1/", "https://127.0.0.1/", "http://127.0.0.1:8080/", "http://127.1.2.3/", "http://127.255.255.254/", "http://127.0.0.1./",
        "http://[::1]/", "http://[0:0:0:0:0:0:0:1]/", "http://[0000::0001]:8000/", "http://127.0.0.1/?a=b",
    ),
    *_each(
        NUMBERS, "numeric notation",
        "http://2130706433/", "http://017700000001/", "http://0x7f000001/", "http://0x7F.0x0.0x0.0x1/", "http://0177.0.0.1/", "http://0177.0.0.01/",
        "http://127.1/", "http://127.0.1/", "http://0x7f.1/", "http://127.0x0.1/", "http://00000127.0.0.1/", "http://127.000.000.001/",
        "http://0/", "http://00/", "http://0x0/", "http://0x/", "http://3232235521/", "http://2852039166/", "http://0xa9fea9fe/", "http://0xA9.0xFE.0xA9.0xFE/",
        "http://0251.0376.0251.0376/", "http://169.16689662/", "http://10.1/", "http://192.168.1/", "http://4294967295/", "http://4294967296/",
        "http://256.256.256.256/", "http://127.0.0.1.1/", "http://1.2.3/", "http://1.1.1.1.1/", "http://134744072/", "http://010.8.8.8/",
        "http://127.0.0.0x1/", "http://127.0.0.08/", "http://999999999999999999999/", "http://example.0x7f/", "http://example.1/",
    ),
    *_each(
        PRIVATE, "private",
        "http://10.0.0.1/", "http://10.255.255.255/", "http://172.16.0.1/", "http://172.31.255.254/", "http://192.168.0.1/", "http://192.168.178.1:8080/",
    ),
    *_each(PRIVATE, "link-local", "http://169.254.0.1/", "http://169.254.255.255/"),
    *_each(PRIVATE, "shared by carriers (CGNAT)", "http://100.64.0.1/", "http://100.127.255.254/"),
    *_each(PRIVATE, "unspecified or this network", "http://0.0.0.0/", "http://0.0.0.0:8080/", "http://0.1.2.3/"),
    *_each(PRIVATE, "documentation", "http://192.0.2.1/", "http://198.51.100.7/", "http://203.0.113.99/"),
    *_each(PRIVATE, "benchmarking", "http://198.18.0.1/", "http://198.19.255.255/"),
    *_each(PRIVATE, "multicast", "http://224.0.0.1/", "http://239.255.255.250/"),
    *_each(PRIVATE, "reserved", "http://240.0.0.1/", "http://255.255.255.254/", "http://192.0.0.1/", "http://192.175.48.1/"),
    *_each(PRIVATE, "6to4", "http://192.88.99.1/"),
    *_each(PRIVATE, "broadcast", "http://255.255.255.255/"),
    *_each(
        METADATA, "cloud metadata",
        "http://169.254.169.254/latest/meta-data/", "http://169.254.169.254:80/computeMetadata/v1/", "http://169.254.170.2/v2/credentials",
        "http://100.100.100.200/latest/meta-data/", "http://192.0.0.192/latest/", "http://168.63.129.16/machine", "http://[fd00:ec2::254]/latest/",
        "http://[fd20:ce::254]/",
    ),
    *_each(METADATA, "internal name", "http://metadata.google.internal/computeMetadata/v1/", "http://metadata/", "http://instance-data/latest/"),
    *_each(IPV6, "unspecified or this network", "http://[::]/", "http://[0:0:0:0:0:0:0:0]:80/"),
    *_each(IPV6, "private", "http://[fc00::1]/", "http://[fd12:3456:789a::1]/", "http://[fec0::1]/"),
    *_each(IPV6, "link-local", "http://[fe80::1]/", "http://[febf::1]/"),
    *_each(IPV6, "multicast", "http://[ff02::1]/", "http://[ff0e::1]/"),
    *_each(IPV6, "documentation", "http://[2001:db8::1]/", "http://[3fff::1]/"),
    *_each(IPV6, "benchmarking", "http://[2001:2::1]/"),
    *_each(IPV6, "reserved", "http://[100::1]/", "http://[2001:10::1]/", "http://[5f00::1]/", "http://[4000::1]/", "http://[1::1]/", "http://[e000::1]/"),
    *_each(
        CARRIED, "IPv4-mapped or -compatible IPv6",
        "http://[::ffff:127.0.0.1]/", "http://[::ffff:7f00:1]/", "http://[0:0:0:0:0:ffff:7f00:0001]/", "http://[::ffff:a9fe:a9fe]/", "http://[::FFFF:10.0.0.1]/",
        "http://[::ffff:8.8.8.8]/", "http://[::127.0.0.1]/", "http://[::a9fe:a9fe]/", "http://[::ffff:0:127.0.0.1]/", "http://[::ffff:0:7f00:1]/",
    ),
    *_each(CARRIED, "NAT64", "http://[64:ff9b::7f00:1]/", "http://[64:ff9b::169.254.169.254]/", "http://[64:ff9b:1::a00:1]/", "http://[64:ff9b::8.8.8.8]/"),
    *_each(CARRIED, "6to4", "http://[2002:7f00:1::]/", "http://[2002:a9fe:a9fe::1]/", "http://[2002:c0a8:101::1]/"),
    *_each(CARRIED, "Teredo", "http://[2001::1]/", "http://[2001:0:4136:e378:8000:63bf:80ff:fffe]/"),
    *_each(CARRIED, "ISATAP", "http://[2606:4700::5efe:10.0.0.1]/", "http://[2606:4700::200:5efe:7f00:1]/"),
    *_each(
        USERINFO, "userinfo",
        "http://user@example.com/", "http://user:pass@example.com/", "http://example.com@127.0.0.1/", "http://example.com:80@127.0.0.1/",
        "http://127.0.0.1@example.com/", "http://@example.com/", "http://:@example.com/", "http://a@b@c/", "http://example.com:@127.0.0.1:8080/",
        "http://example.com&@127.0.0.1/", "http://x;y@10.0.0.1/", "http://good.com＠evil.com/", "http://%61@127.0.0.1/",
    ),
    *_each(
        CHARACTERS, "backslash",
        "http:\\\\example.com\\", "http://example.com\\@127.0.0.1/", "http://127.0.0.1\\@example.com/", "http://example.com\\.evil.com/", "http:/\\127.0.0.1/", "http://a/\\b",
    ),
    *_each(
        CHARACTERS, "control character",
        "http://exam\tple.com/", "http://example.com\r\nHost: x/", "http://127.0.0.1\n.example.com/", "http://example.com/\x00", "http://\x00127.0.0.1/", "\x01http://example.com/",
        "http://example.com/\x7f", "http://example.com/\u2028", "http://example.com/a\nb", "java\tscript:alert(1)", "http://example.com/\ud800",
    ),
    *_each(
        CHARACTERS, "invisible character",
        "http://exa mple.com/", "http:// example.com/", "http://example.com /", "http://exam\u00adple.com/", "http://127.0.0\u200b.1/", "http://local\u200bhost/",
        "http://example\u2060.com/", "http://\ufeffexample.com/", "http://exam\u00a0ple.com/", "http://\u202emoc.elpmaxe/", "http://127.0.0.1\u3000/",
    ),
    *_each(
        PERCENT, "percent-encoded host",
        "http://%31%32%37.0.0.1/", "http://127%2e0%2e0%2e1/", "http://example.com%2f@127.0.0.1/".replace("@", "."), "http://%6cocalhost/", "http://[fe80::1%25eth0]/",
        "http://[fe80::1%eth0]/", "http://[::1%251]/", "http://example.com%00.evil.com/", "http://%5B::1%5D/", "http://example.com%23.evil.com/", "http://%e2%91%a0.1.1.1/",
    ),
    *_each(
        INTERNATIONAL, "disguised host",
        "http://１２７.0.0.1/", "http://１２７．０．０．１/", "http://127。0。0。1/", "http://①②⑦.⓪.⓪.①/", "http://０x7f000001/", "http://２１３０７０６４３３/", "http://127.0.0.１/",
        "http://𝟏𝟐𝟕.𝟎.𝟎.𝟏/", "http://1６9.254.1６9.254/", "http://例え.１/",
    ),
    *_each(
        INTERNATIONAL, "disguised host",
        "http://ｌｏｃａｌｈｏｓｔ/", "http://ⓛⓞⓒⓐⓛⓗⓞⓢⓣ/", "http://example。com/", "http://ｅxample.com/", "http://℡.example/", "http://LOCALHOſT/",
    ),
    *_each(
        INTERNATIONAL, "international name",
        "http://xn--/", "http://xn--a.example/", "http://xn--localhost-.example/", "http://xn--80ak6aa92e\u0301.com/", "http://-ä.example/", "http://ä..example/", "http://xn--\u00e4.com/",
        "http://a℀b.example/", "http://example℀.com/", "http://example⁄.com/",
    ),
    *_each(
        INSIDE, "internal name",
        "http://localhost/", "http://LOCALHOST/", "http://localhost./", "http://localhost:8080/", "http://foo.localhost/", "http://intranet/", "http://router/", "http://printer.local/",
        "http://db.internal/", "http://wiki.corp/", "http://nas.home/", "http://nas.home.arpa/", "http://abc.onion/", "http://fritz.lan/", "http://vault.private/", "http://kubernetes.default.svc.cluster.local/",
        "http://host.docker.internal/", "http://localhost.localdomain.local/", "http://com/",
    ),
    *_each(
        PORTS, "port",
        "http://example.com:22/", "http://example.com:25/", "http://example.com:6379/", "http://example.com:3306/", "http://example.com:5432/", "http://example.com:9200/", "http://example.com:11211/",
        "http://example.com:2375/", "http://8.8.8.8:53/", "http://example.com:0/", "http://example.com:65536/", "http://example.com:99999999999/", "http://example.com:-80/", "http://example.com:80a/",
        "http://example.com:0x50/", "http://example.com:８０/", "http://example.com:80:80/", "http://example.com:+80/", "https://example.com:7999/", "http://example.com:9000/",
    ),
    *_each(
        HOSTS, "host",
        "http://exa_mple..com/", "http://.example.com/", "http://example.com../", "http://-example.com/", "http://example-.com/", "http://" + "a" * 64 + ".com/", "http://" + "a." * 130 + "com/",
        "http://[::1/", "http://[::1]x/", "http://[]/", "http://[127.0.0.1]/", "http://[::g]/", "http://[1:2:3:4:5:6:7:8:9]/", "http://" + "ä" * 5_000 + ".com/",
        "http://exam[ple].com/", "http://exam<ple.com/", "http://exam|ple.com/",
        "http://exam\"ple.com/", "http://exam^ple.com/", "http://exam`ple.com/", "http://exam{ple}.com/", "http://a,b.com/", "http://a;b.com/", "http://*.com/", "http://a!b.com/", "http://a$b.com/",
        "http://127.0.0.1;x/", "http://[[::1]]/",
    ),
    *_named(DNS, "loopback", "127.0.0.1", "::1"),
    *_named(DNS, "private", "10.1.2.3", "192.168.1.1", "172.20.0.1", "fd00::1"),
    *_named(DNS, "cloud metadata", "169.254.169.254", "fd00:ec2::254"),
    *_named(DNS, "link-local", "fe80::1%eth0"),
    *_named(DNS, "unspecified or this network", "0.0.0.0", "::"),
    *_named(DNS, "IPv4-mapped or -compatible IPv6", "::ffff:10.0.0.1"),
    *_named(DNS, "NAT64", "64:ff9b::a00:1"),
    *_named(DNS, "shared by carriers (CGNAT)", "100.64.1.1"),
    *_named(DNS, OPEN, "93.184.216.34", "2606:2800:220:1::1"),
    Case(DNS, "http://mixed.test/", "private", {"mixed.test": [["93.184.216.34", "10.0.0.1"]]}),
    Case(DNS, "http://mixed.test/", "loopback", {"mixed.test": [["::1", "93.184.216.34"]]}),
    Case(DNS, "http://two.test/", OPEN, {"two.test": [["93.184.216.34", "93.184.216.35"]]}),
    # The first answer serves robots.txt, the second is for the page.
    Case(REBINDING, "http://rebind.test/", "loopback", {"rebind.test": [["127.0.0.1"], ["93.184.216.34"]]}),
    Case(REBINDING, "http://rebind.test/", OPEN, {"rebind.test": [["93.184.216.34"], ["127.0.0.1"]]}),
    Case(REBINDING, "http://rebind.test/", OPEN, {"rebind.test": [["93.184.216.34"], ["169.254.169.254"]]}),
    Case(
        REBINDING, "http://start.test/go", "loopback", {"rebind.test": [["127.0.0.1"]], "start.test": [["93.184.216.34"]]},
        {"http://start.test/go": "http://rebind.test/"},
    ),
    Case(
        REBINDING, "http://rebind.test/go", "private", {"rebind.test": [["93.184.216.34"], ["10.0.0.1"]]},
        {"http://rebind.test/go": "https://rebind.test/"},
    ),
    Case(
        REBINDING, "http://rebind.test/go", "cloud metadata", {"rebind.test": [["93.184.216.34"], ["169.254.169.254"]]},
        {"http://rebind.test/go": "http://rebind.test:8080/"},
    ),
    *_sent(REDIRECTS, "loopback", "http://127.0.0.1/", "//127.0.0.1/", "http://[::1]/", "http://127.0.0.1:8000/admin"),
    *_sent(REDIRECTS, "cloud metadata", "http://169.254.169.254/latest/meta-data/"),
    *_sent(REDIRECTS, "private", "http://10.0.0.1/", "https://192.168.1.1/"),
    *_sent(REDIRECTS, "numeric notation", "http://2130706433/", "http://0x7f.1/", "//0177.0.0.1/"),
    *_sent(REDIRECTS, "IPv4-mapped or -compatible IPv6", "http://[::ffff:127.0.0.1]/"),
    *_sent(REDIRECTS, "internal name", "http://localhost/", "//metadata.google.internal/"),
    *_sent(REDIRECTS, "userinfo", "http://a:b@start.test/", "http://start.test@127.0.0.1/", "//x@127.0.0.1/"),
    *_sent(REDIRECTS, "scheme", "file:///etc/passwd", "gopher://127.0.0.1:6379/", "javascript:alert(1)", "data:text/plain,x"),
    *_sent(REDIRECTS, "backslash", "http:\\\\127.0.0.1\\", "\\\\127.0.0.1\\"),
    *_sent(REDIRECTS, "port", "http://start.test:22/", "//start.test:6379/"),
    *_sent(REDIRECTS, "control character", "http://127.0.0.1\t/"),
    *_sent(REDIRECTS, "form", "http:///127.0.0.1/"),
    *_sent(REDIRECTS, OPEN, "/next", "next", "//next.test/", "https://next.test/a?b#c", "/go/?q=1", "http://NEXT.test/"),
    Case(
        REDIRECTS, "http://a.test/", "private", {"c.test": [["10.9.8.7"]]},
        {"http://a.test/": "http://b.test/", "http://b.test/": "http://c.test/"},
    ),
    Case(
        REDIRECTS, "http://a.test/", "loopback", {},
        {"http://a.test/": "/1", "http://a.test/1": "/2", "http://a.test/2": "/3", "http://a.test/3": "http://127.0.0.1/"},
    ),
    Case(CHAINS, "http://a.test/", "redirects", {}, {"http://a.test/": "http://a.test/"}),
    Case(CHAINS, "http://a.test/", "redirects", {}, {"http://a.test/": "http://b.test/", "http://b.test/": "http://a.test/"}),
    Case(CHAINS, "http://a.test/0", "redirects", {}, {f"http://a.test/{n}": f"/{n + 1}" for n in range(6)}),
    Case(CHAINS, "http://a.test/0", "redirects", {}, {f"http://a.test/{n}": f"/{n + 1}" for n in range(100)}),
    Case(CHAINS, "http://a.test/0", OPEN, {}, {f"http://a.test/{n}": f"/{n + 1}" for n in range(5)}),
]  # fmt: skip
