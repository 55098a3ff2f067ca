import ErrandBackoff
import ErrandHTTP
import Testing

@Suite struct BackoffTests {
    private let exact = Backoff(base: .milliseconds(100), maximumDelay: .seconds(1), jitter: 0)

    @Test("a delay doubles with each failure, up to the maximum")
    func growth() {
        let delays = (1...6).map { exact.delay(afterFailures: $0) / .milliseconds(1) }
        #expect(delays == [100, 200, 400, 800, 1_000, 1_000])
        var triple = exact
        (triple.factor, triple.maximumDelay) = (3, .seconds(60))
        #expect(triple.delay(afterFailures: 4) == .milliseconds(2_700))
        #expect(exact.delay(afterFailures: 0) == exact.delay(afterFailures: 1))
        #expect(exact.delay(afterFailures: .min) == .milliseconds(100))
    }

    @Test(
        "jitter is the random part of a delay", arguments: [(0.0, 400), (0.25, 300), (0.5, 200), (1.0, 0)])
    func jitter(_ jitter: Double, least: Int) {
        var backoff = exact
        backoff.jitter = jitter
        #expect(backoff.delay(afterFailures: 3, random: 0) == .milliseconds(least))
        #expect(backoff.delay(afterFailures: 3, random: 1) == .milliseconds(400))
        #expect(backoff.delay(afterFailures: 3, random: 0.5) == .milliseconds((400 + least) / 2))
        let some = backoff.delay(afterFailures: 3)
        #expect(some >= .milliseconds(least) && some <= .milliseconds(400))
    }

    @Test("delays aren't shorter than the floor, and clients with the same floor are spread out above it")
    func floor() {
        var backoff = exact
        backoff.jitter = 0.25
        #expect(backoff.delay(afterFailures: 1, atLeast: .seconds(8), random: 0) == .seconds(8))
        #expect(backoff.delay(afterFailures: 1, atLeast: .seconds(8), random: 1) == .seconds(10))
        #expect(backoff.delay(afterFailures: 2, atLeast: .milliseconds(100), random: 0) == .milliseconds(150))
        #expect(backoff.delay(afterFailures: 1, atLeast: .seconds(-8), random: 0) == .milliseconds(75))
    }

    @Test("no value of a property makes a delay negative or endless, or overflows")
    func extremes() {
        let century = Duration.seconds(Int64.max).bounded
        let longest = Backoff(
            base: .seconds(Int64.max), factor: .infinity, maximumDelay: .seconds(Int64.max), jitter: 1)
        #expect(longest.delay(afterFailures: .max, atLeast: .seconds(Int64.max), random: 1) == century * 2)
        #expect(longest.delay(afterFailures: .max, random: 1) == century)
        for number in [-1, .nan, -.infinity, .zero] as [Double] {
            let odd = Backoff(base: .milliseconds(100), factor: number, maximumDelay: .seconds(1), jitter: number)
            #expect(odd.delay(afterFailures: 9, random: number) == .milliseconds(100))
        }
        #expect(Backoff(base: .seconds(-1), jitter: 7).delay(afterFailures: 9, random: 7) == .zero)
        #expect(Backoff(base: .seconds(1), maximumDelay: .seconds(-1)).delay(afterFailures: 9) == .zero)
        let slow = Backoff(base: .nanoseconds(1), factor: 1.01, maximumDelay: century, jitter: 0)
        #expect(slow.delay(afterFailures: .max) == century)
        #expect(Backoff.none.delay(afterFailures: 3) == .zero)
    }
}
