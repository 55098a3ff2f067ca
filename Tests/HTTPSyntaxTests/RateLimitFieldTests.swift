import ErrandHTTPSyntax
import Testing

@Suite("RateLimit and RateLimit-Policy") struct RateLimitFieldTests {
    @Test(
        "the limits of a RateLimit field are read in the forms of all drafts",
        arguments: [
            (#""a";r=5;t=10"#, [ServiceLimit(policy: "a", remaining: 5, reset: .seconds(10))]),
            ("a;r=5", [ServiceLimit(policy: "a", remaining: 5, reset: nil)]),
            (
                #""a";r=5;t=10, "b";r=0;t=7;pk=:AAAA:"#,
                [
                    ServiceLimit(policy: "a", remaining: 5, reset: .seconds(10)),
                    ServiceLimit(policy: "b", remaining: 0, reset: .seconds(7)),
                ]
            ),
            ("limit=10, remaining=2, reset=30", [ServiceLimit(remaining: 2, reset: .seconds(30))]),
            ("limit=10, remaining=2;x, reset=30;w=1", [ServiceLimit(remaining: 2, reset: .seconds(30))]),
            (#""a";t=10, "b";r=-1;t=1, "c";r=1.5;t=1, "d";r="1";t=1"#, []),
            (#""a";r=1;t=-1"#, [ServiceLimit(policy: "a", remaining: 1, reset: nil)]),
            (#""a";r=1;t=999999999999999"#, [ServiceLimit(policy: "a", remaining: 1, reset: .seconds(1 << 32))]),
            ("", []), ("10", []), (#""a";r=1;t=1,"#, []), ("limit=10", []), ("\u{0}", []),
        ])
    func limits(value: String, expected: [ServiceLimit]) {
        #expect(ServiceLimit.parse(value) == expected)
    }

    @Test("the separate fields of the first drafts make a limit if both are numbers")
    func separate() {
        #expect(ServiceLimit(remaining: "3", reset: "60") == ServiceLimit(remaining: 3, reset: .seconds(60)))
        #expect(ServiceLimit(remaining: "0;x=1", reset: " 60 ") == ServiceLimit(remaining: 0, reset: .seconds(60)))
        for (remaining, reset) in [("-1", "60"), ("x", "60"), ("1", "soon"), ("1.5", "2"), ("", "")] {
            #expect(ServiceLimit(remaining: remaining, reset: reset) == nil)
        }
    }

    @Test("the tightest limit has the fewest requests left, and of several the longest time")
    func tightest() {
        let limits = ServiceLimit.parse(#""a";r=1;t=5, "b";r=0;t=3, "c";r=0;t=9, "d";r=0"#)
        #expect(ServiceLimit.tightest(of: limits)?.policy == "c")
        #expect(ServiceLimit.tightest(of: []) == nil)
    }

    @Test("the policies of a RateLimit-Policy field have a quota, and most a window")
    func policies() {
        let policies = QuotaPolicy.parse(#""burst";q=100;w=60, "daily";q=5000;qu="requests", none;w=1, "zero";q=0;w=1"#)
        #expect(
            policies == [
                QuotaPolicy(name: "burst", quota: 100, window: .seconds(60)),
                QuotaPolicy(name: "daily", quota: 5_000, window: nil),
            ])
        #expect(policies.map(\.interval) == [.milliseconds(600), nil])
        #expect(QuotaPolicy.parse(#""a";q=9;w=0"#) == [QuotaPolicy(name: "a", quota: 9, window: nil)])
        #expect(QuotaPolicy.parse("limit=10").isEmpty)
    }

    @Test("of a field with many members the first 16 count, and one that is too long says nothing")
    func bounds() {
        let many = (1...100).map { "\"p\($0)\";r=\($0);q=1;w=1;t=1" }.joined(separator: ", ")
        #expect(ServiceLimit.parse(many).map(\.remaining) == Array(1...16))
        #expect(QuotaPolicy.parse(many).count == 16)
        let long = "\"a\";r=1;q=1;t=1;x=\"" + String(repeating: "x", count: 4_096) + "\""
        #expect(ServiceLimit.parse(long).isEmpty && QuotaPolicy.parse(long).isEmpty)
        #expect(ServiceLimit(remaining: "1", reset: "1;x=\"" + String(repeating: "x", count: 4_096) + "\"") == nil)
    }
}
