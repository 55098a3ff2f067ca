import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// A server with a rate limit on the test's clock: a fixed or sliding window, a token bucket, or a leaky bucket.
final class LimitServer: Sendable {
    enum Kind: Sendable, CaseIterable {
        case fixedWindow, slidingWindow, slidingWindowOfOneLength, tokenBucket, tokenBucketUntilFull, leakyBucket
    }

    private struct State {
        var windowEnd: Double = 0
        var used = 0
        var times: [Double] = []
        var tokens: Double
        var last: Double = 0
        /// When the bucket is empty, as GCRA computes it.
        var empty: Double = 0
        var accepted: [Double] = []
        var refused = 0
    }

    let kind: Kind
    /// The allowed number of requests in this many seconds.
    let (count, period): (Int, Double)
    private let start: ContinuousClock.Instant
    private let state: Mutex<State>

    init(_ kind: Kind, _ count: Int, per period: Double, at start: ContinuousClock.Instant) {
        (self.kind, self.count, self.period, self.start) = (kind, count, period, start)
        state = Mutex(State(tokens: Double(count)))
    }

    /// When requests were accepted, in seconds from the start.
    var accepted: [Double] { state.withLock { $0.accepted } }
    var refused: Int { state.withLock { $0.refused } }

    func respond(to request: HTTPRequest, at instant: ContinuousClock.Instant) -> HTTPResponse {
        let duration = start.duration(to: instant).components
        let now = Double(duration.seconds) + Double(duration.attoseconds) / 1e18
        let (isAccepted, left, reset) = state.withLock { state in
            let result = take(&state, now)
            if result.0 { state.accepted.append(now) } else { state.refused += 1 }
            return result
        }
        // Rounds up, because the field contains whole seconds.
        let seconds = max(1, Int((reset - 1e-6).rounded(.up)))
        return response(request, isAccepted ? 200 : 429, ["RateLimit": "\"a\";r=\(left);t=\(seconds)"])
    }

    private func take(_ state: inout State, _ now: Double) -> (Bool, left: Int, reset: Double) {
        let interval = period / Double(count)
        switch kind {
        case .fixedWindow:
            if now >= state.windowEnd {
                (state.windowEnd, state.used) = ((now / period).rounded(.down) * period + period, 0)
            }
            let isAccepted = state.used < count
            if isAccepted { state.used += 1 }
            return (isAccepted, count - state.used, state.windowEnd - now)
        case .slidingWindow, .slidingWindowOfOneLength:
            state.times.removeAll { $0 <= now - period + 1e-9 }
            let isAccepted = state.times.count < count
            if isAccepted { state.times.append(now) }
            let reset = kind == .slidingWindow ? (state.times.first ?? now) + period - now : period
            return (isAccepted, count - state.times.count, reset)
        case .tokenBucket, .tokenBucketUntilFull:
            state.tokens = min(Double(count), state.tokens + (now - state.last) / interval)
            state.last = now
            let isAccepted = state.tokens >= 1 - 1e-9
            if isAccepted { state.tokens -= 1 }
            let missing = kind == .tokenBucket ? max(0, 1 - state.tokens) : Double(count) - state.tokens
            return (isAccepted, Int(state.tokens + 1e-9), missing * interval)
        case .leakyBucket:
            let empty = max(state.empty, now) + interval
            let isAccepted = empty - now <= period + 1e-9
            if isAccepted { state.empty = empty }
            return (isAccepted, Int((period - max(0, state.empty - now)) / interval + 1e-9), state.empty - now)
        }
    }
}
