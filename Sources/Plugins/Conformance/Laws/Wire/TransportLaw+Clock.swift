import Errand
import ErrandEssentials
import ErrandTesting

extension TransportLaw {
    /// The law that an exchange doesn't depend on the calendar date, which users and time servers set back or forward.
    public static let setback = TransportLaw(
        "setback", "law: an exchange is the same if the date is set back or forward, and timeouts still fire",
        advice: """
            Measure waits, timeouts and timings with `options.time.now`, which never jumps. Use `options.time.date` \
            only for dates that you compare with dates from a server.
            """, share: 30, needsTwo: true,
        exchanges: { random in
            (0..<Int.random(in: 2...3, using: &random)).map { index in
                var exchange =
                    random.isTrue(0.3) ? WireExchange.upload(&random)[0] : WireExchange.download(&random)[0]
                if exchange.body.isStream || exchange.body.count > 20_000 { exchange.body = .data(5) }
                if index == 0 || random.isTrue(0.6) { return exchange }
                return WireExchange.silent(&random)
            }
        }
    ) { bench, exchanges in
        let run = try bench.run()
        for (index, exchange) in exchanges.enumerated() {
            // The first date is the clock's own one. It jumps during the second exchange, and between the others.
            let jump = index == 1 ? -100_000.0 : index == 2 ? 200_000 : 0
            let trace = try await run.play(exchange, settingDateBy: jump)
            if let violation = trace.hanging { return violation }
            var silence = WireRun.silence
            if exchange.isSilent, trace.elapsed < silence / 2 {
                // A transport may shorten timeouts, but not because of the date.
                silence = min(silence, try await bench.run().play(exchange).elapsed)
            }
            if let violation = trace.clockDifference(from: exchange, after: silence) { return violation }
            run.setDate(by: -1_000_000)
        }
        return nil
    }
}

extension WireExchange {
    /// The server stops sending, in the head or in the body.
    fileprivate static func silent(_ random: inout LawRandom) -> WireExchange {
        var exchange = WireExchange()
        exchange.isStreamed = random.isTrue()
        exchange.reply.body = .bytes(1_000)
        let image = WireImage(exchange)
        exchange.reply.fault = .stall(random.isTrue(0.3) ? 0 : image.headEnd + 10)
        return exchange
    }
}

extension WireTrace {
    fileprivate func clockDifference(from exchange: WireExchange, after silence: Duration) -> LawViolation? {
        for case .timings(let isNegative) in events where isNegative {
            return LawViolation(expected: "timings that aren't negative", came: "a negative time")
        }
        if elapsed > WireRun.silence * 3 {
            return LawViolation(
                expected: "an end within \(WireRun.silence * 3) of the agent's clock", came: "\(elapsed)")
        }
        if !exchange.isSilent {
            if elapsed > WireRun.longestWait {
                return LawViolation(expected: "no wait, as before the date was set", came: "a wait of \(elapsed)")
            }
            return difference(from: exchange)
        }
        guard let failure else { return LawViolation(expected: "timedOut", came: "a response") }
        if failure.code != .timedOut { return LawViolation(expected: "timedOut", came: failure.description) }
        if elapsed < silence / 2 {
            return LawViolation(
                expected: "timedOut after \(silence) of the agent's clock", came: "after \(elapsed)")
        }
        return nil
    }
}
