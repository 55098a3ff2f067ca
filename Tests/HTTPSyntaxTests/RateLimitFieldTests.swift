import ErrandHTTPSyntax
import Testing

@Suite("RateLimit and RateLimit-Policy") struct RateLimitFieldTests {
    @Test(
        "the limits of a RateLimit field are read in the forms of all drafts",
        arguments: [
            (#""a";r=5;t=10"#, [RateLimitStatus(policy: "a", remaining: 5, reset: .seconds(10))]),
            ("a;r=5", [RateLimitStatus(policy: "a", remaining: 5, reset: nil)]),
            (
                #""a";r=5;t=10, "b";r=0;t=7;pk=:AAAA:"#,
                [
                    RateLimitStatus(policy: "a", remaining: 5, reset: .seconds(10)),
                    RateLimitStatus(policy: "b", remaining: 0, reset: .seconds(7)),
                ]
            ),
            ("limit=10, remaining=2, reset=30", [RateLimitStatus(remaining: 2, reset: .seconds(30))]),
            ("limit=10, remaining=2;x, reset=30;w=1", [RateLimitStatus(remaining: 2, reset: .seconds(30))]),
            (#""a";t=10, "b";r=-1;t=1, "c";r=1.5;t=1, "d";r="1";t=1"#, []),
            (#""a";r=1;t=-1"#, [RateLimitStatus(policy: "a", remaining: 1, reset: nil)]),
            (#""a";r=1;t=999999999999999"#, [RateLimitStatus(policy: "a", remaining: 1, reset: .seconds(1 << 32))]),
            ("", []), ("10", []), (#""a";r=1;t=1,"#, []), ("limit=10", []), ("\u{0}", []),
        ])
    func limits(value: String, expected: [RateLimitStatus]) {
        #expect(RateLimitStatus.parse(value) == expected)
    }

    @Test("the separate fields of early drafts form a limit if both are numbers")
    func separate() {
        #expect(RateLimitStatus(remaining: "3", reset: "60") == RateLimitStatus(remaining: 3, reset: .seconds(60)))
        #expect(
            RateLimitStatus(remaining: "0;x=1", reset: " 60 ") == RateLimitStatus(remaining: 0, reset: .seconds(60)))
        for (remaining, reset) in [("-1", "60"), ("x", "60"), ("1", "soon"), ("1.5", "2"), ("", "")] {
            #expect(RateLimitStatus(remaining: remaining, reset: reset) == nil)
        }
    }

    @Test("the tightest limit has the fewest requests left, and the longest time if several have")
    func tightest() {
        let limits = RateLimitStatus.parse(#""a";r=1;t=5, "b";r=0;t=3, "c";r=0;t=9, "d";r=0"#)
        #expect(RateLimitStatus.tightest(of: limits)?.policy == "c")
        #expect(RateLimitStatus.tightest(of: []) == nil)
    }

    @Test("a RateLimit-Policy has a quota, and usually a window")
    func policies() {
        let policies = RateLimitPolicy.parse(
            #""burst";q=100;w=60, "daily";q=5000;qu="requests", none;w=1, "zero";q=0;w=1"#)
        #expect(
            policies == [
                RateLimitPolicy(name: "burst", quota: 100, window: .seconds(60)),
                RateLimitPolicy(name: "daily", quota: 5_000, window: nil),
            ])
        #expect(policies.map(\.interval) == [.milliseconds(600), nil])
        #expect(RateLimitPolicy.parse(#""a";q=9;w=0"#) == [RateLimitPolicy(name: "a", quota: 9, window: nil)])
        #expect(RateLimitPolicy.parse("limit=10").isEmpty)
    }

    @Test("the first 16 members of a long field count, and a field that is too long is ignored")
    func bounds() {
        let many = (1...100).map { "\"p\($0)\";r=\($0);q=1;w=1;t=1" }.joined(separator: ", ")
        #expect(RateLimitStatus.parse(many).map(\.remaining) == Array(1...16))
        #expect(RateLimitPolicy.parse(many).count == 16)
        let long = "\"a\";r=1;q=1;t=1;x=\"" + String(repeating: "x", count: 4_096) + "\""
        #expect(RateLimitStatus.parse(long).isEmpty && RateLimitPolicy.parse(long).isEmpty)
        #expect(RateLimitStatus(remaining: "1", reset: "1;x=\"" + String(repeating: "x", count: 4_096) + "\"") == nil)
    }
}
