import Errand
import ErrandEssentials
import ErrandTesting
import Synchronization

/// Laws for transports that respond themselves: each request is compared with the same request to a new transport.
extension LocalCases {
    static let laws: [Draft] = [
        Draft(name: "law: a response is the same after any other requests, however these ended") { bench in
            try await bench.search { transport, calls, expected in
                for (call, expected) in zip(calls, expected) {
                    let came = try await bench.play(call, on: transport)
                    if let violation = violation(call, expected, came) { return violation }
                }
                return nil
            }
        },
        Draft(name: "law: concurrent requests get the same responses as single ones") { bench in
            try await bench.search { transport, calls, expected in
                try await withThrowingTaskGroup(of: LawViolation?.self) { group in
                    for (call, expected) in zip(calls + calls, expected + expected) {
                        group.addTask { try await violation(call, expected, bench.play(call, on: transport)) }
                    }
                    return try await group.reduce(nil) { $0 ?? $1 }
                }
            }
        },
        Draft(name: "law: a part of a body is the part that was requested, or the whole body is returned") { bench in
            for resource in bench.urls {
                guard case .response(let whole) = try await bench.alone(LocalCall(url: resource)) else { continue }
                let count = whole.body.count
                for text in ["0-0", "1-", "-1", "0-\(count + 10)", "\(count / 2)-\(count / 2)", "\(count + 5)-", "5-2"]
                {
                    let call = LocalCall(url: resource, headers: [.range: "bytes=\(text)"])
                    guard case .response(let part) = try await bench.alone(call) else { continue }
                    if let violation = partDifference(part, whole, call) { throw violation }
                }
            }
        },
        Draft(name: "law: a response doesn't depend on the case of the request's field names") { bench in
            for resource in bench.urls {
                let transport = try bench.make()
                var fields = LocalBench.fields + [[.ifModifiedSince: "Fri, 01 Jan 2100 00:00:00 GMT"]]
                if case .response(let plain) = try await bench.play(LocalCall(url: resource), on: transport),
                    let tag = plain.headers[.entityTag]
                {
                    fields.append([.ifNoneMatch: tag])
                }
                for headers in fields {
                    let call = LocalCall(url: resource, headers: headers)
                    let expected = try await bench.play(call, on: transport)
                    for isUpper in [false, true] {
                        let changed = HTTPHeaders(
                            headers.map { field in
                                let name = field.name.rawName
                                let other = isUpper ? name.uppercased() : name.lowercased()
                                return HTTPHeaders.Field(HTTPHeaderName(other), field.value)
                            })
                        let call = LocalCall(url: resource, headers: changed)
                        let came = try await bench.play(call, on: transport)
                        if let violation = violation(call, expected, came) {
                            throw ConformanceFailure(expected: violation.expected, came: violation.came)
                        }
                    }
                }
            }
        },
        Draft(name: "law: a response is the same if the date is set back or forward, and doesn't wait for a date") {
            bench in
            let expected = try await bench.alone(LocalCall(url: bench.url))
            let transport = try bench.make()
            let clock = ManualTimeSource()
            let driver = Task {
                // Waits of the transport pass, unless they are long.
                let start = clock.now
                while !Task.isCancelled {
                    if let wake = clock.nextWake, start.duration(to: wake) < .seconds(1_000) {
                        clock.advance(to: wake)
                    }
                    try? await Task.sleep(for: .milliseconds(1))
                }
            }
            defer { driver.cancel() }
            for jump in [0.0, -100_000, -1_000_000, 5_000_000] {
                clock.date += jump
                let came: LocalResult
                do { came = try await bench.play(LocalCall(url: bench.url), on: transport, time: clock) } catch {
                    throw ConformanceFailure(
                        expected: "a response after the date was set by \(Int(jump)) seconds", came: "\(error)")
                }
                if let violation = violation(LocalCall(url: bench.url), expected, came) {
                    throw ConformanceFailure(
                        expected: violation.expected,
                        came: "\(violation.came), after the date was set by \(Int(jump)) s")
                }
                guard case .response(let received) = came, let age = received.headers[.age] else { continue }
                if Int(age).map({ $0 < 0 }) ?? true {
                    throw ConformanceFailure(expected: "an Age that isn't negative", came: age)
                }
            }
        },
    ]

    static let further: [Draft] = [
        Draft(name: "a response is the same if its body is saved to a file") { bench in
            let expected = try await bench.alone(LocalCall(url: bench.url))
            for delivery in LocalCall.Delivery.allCases {
                let call = LocalCall(url: bench.url, delivery: delivery)
                if let violation = violation(call, expected, try await bench.alone(call)) {
                    throw ConformanceFailure(expected: violation.expected, came: violation.came)
                }
            }
        },
        Draft(name: "a request that changes a resource isn't answered like a GET") { bench in
            let whole = try await bench.alone(LocalCall(url: bench.url))
            guard case .response(let expected) = whole, !expected.body.isEmpty else { return }
            for method in [HTTPMethod.delete, .put, .patch, .post] {
                let call = LocalCall(method: method, url: bench.url, upload: method == .delete ? nil : .data)
                guard case .response(let came) = try await bench.alone(call), came.status < 300 else { continue }
                if came.body != expected.body { continue }
                throw ConformanceFailure(
                    expected: "an error, or a status such as 405, for \(method)",
                    came: "the response to a GET, so the app takes its change for done")
            }
        },
        Draft(name: "a request's body gives the same response as data, as a file, and as a stream that is read once") {
            bench in
            for method in [HTTPMethod.post, .put] {
                let expected = try await bench.alone(LocalCall(method: method, url: bench.url, upload: .data))
                for upload in LocalCall.Upload.allCases {
                    let call = LocalCall(method: method, url: bench.url, upload: upload)
                    if let violation = violation(call, expected, try await bench.alone(call)) {
                        throw ConformanceFailure(expected: violation.expected, came: violation.came)
                    }
                }
            }
        },
        Draft(name: "a cancellation ends a request whose body doesn't arrive") { bench in
            guard let url = URL(string: bench.url) else { return }
            let transport = try bench.make()
            let source = SilentSource()
            let ended = Gate()
            let request = HTTPRequest(
                .put, url, body: .stream(HTTPBody(source: source), contentType: "text/plain"))
            let task = Task {
                _ = try? await transport.send(request, options: TransportOptions()).body.collect(upTo: 1 << 20)
                ended.open()
                source.isRead.open()
            }
            try? await source.isRead.wait(within: LocalBench.patience)
            task.cancel()
            do { try await ended.wait(within: LocalBench.patience) } catch {
                source.cancel()
                throw ConformanceFailure(expected: "an end after the cancellation", came: "a request that hangs")
            }
        },
        Draft(name: "progress never decreases, and ends at the length of the body") { bench in
            for resource in bench.urls {
                guard let url = URL(string: resource) else { continue }
                for delivery in [BodyDelivery.data, .stream] {
                    try await bench.expectProgress(of: HTTPRequest(.get, url), delivery)
                }
            }
        },
    ]

    static func violation(_ call: LocalCall, _ expected: LocalResult, _ came: LocalResult) -> LawViolation? {
        if call.ending != .read, came == .cancelled || came == .dropped { return nil }
        if came.isSame(as: expected) { return nil }
        let wanted = call.ending == .read ? "\(expected)" : "a cancellation, or \(expected)"
        return LawViolation(expected: "\(wanted), for \(call)", came: came.difference(from: expected))
    }

    private static func partDifference(
        _ part: LocalBench.Received, _ whole: LocalBench.Received, _ call: LocalCall
    ) -> ConformanceFailure? {
        let (count, type) = (whole.body.count, part.headers[.contentType] ?? "")
        switch part.status {
        case 206 where !type.hasPrefix("multipart/byteranges"):
            let text = part.headers[.contentRange] ?? ""
            let numbers = text.split { !$0.isNumber }.compactMap { Int($0) }
            guard text.hasPrefix("bytes "), numbers.count >= 2, numbers[0] <= numbers[1], numbers[1] < count,
                numbers.count == 2 || numbers[2] == count
            else {
                return ConformanceFailure(
                    expected: "a Content-Range within the \(count) bytes, for \(call)", came: text.debugDescription)
            }
            let first = requested(call, count)
            if part.body == whole.body[numbers[0]...numbers[1]], first == numbers[0] { return nil }
            return ConformanceFailure(
                expected: "the bytes from \(first.map { "\($0)" } ?? "0"), for \(call)",
                came: "\(part.body.count) bytes with \(text)")
        case 200 where part.body != whole.body:
            return ConformanceFailure(
                expected: "the whole body with status 200, for \(call)", came: "\(part.body.count) bytes")
        case 416 where requested(call, count) != nil:
            return ConformanceFailure(expected: "a part that exists, for \(call)", came: "416")
        default: return nil
        }
    }

    /// The first byte of a range, or `nil` if there is none.
    private static func requested(_ call: LocalCall, _ count: Int) -> Int? {
        let ends = (call.headers[.range] ?? "").dropFirst(6)
            .split(separator: "-", omittingEmptySubsequences: false).map { Int($0) }
        guard ends.count == 2 else { return nil }
        if let first = ends[0] { return first < count && first <= (ends[1] ?? .max) ? first : nil }
        return ends[1].flatMap { count == 0 ? nil : max(0, count - $0) }
    }
}

extension LocalBench {
    typealias Judge = @Sendable (any Transport, [LocalCall], [LocalResult]) async throws -> LawViolation?

    /// The result of a call to a new transport.
    func alone(_ call: LocalCall) async throws -> LocalResult { try await play(call, on: make()) }

    /// Fields to which a local transport can react.
    static let fields: [HTTPHeaders] = [
        [.range: "bytes=0-0"], [.acceptEncoding: "gzip"], [.accept: "text/html"], [.acceptLanguage: "de"],
    ]

    /// Plays random calls until a judge finds a violation. Then leaves out calls as long as the violation remains.
    func search(_ judge: Judge) async throws {
        var known: [LocalCall: LocalResult] = [:]
        var pool: [LocalCall] = []
        for url in urls {
            let plain = LocalCall(url: url)
            let result = try await alone(plain)
            known[plain] = result
            pool += [plain, plain, LocalCall(method: .head, url: url)]
            pool += Self.fields.map { LocalCall(url: url, headers: $0) }
            if case .response(let received) = result, received.headers.contains(.entityTag) {
                pool.append(LocalCall(url: url, isConditional: true))
            }
        }
        var random = LawRandom(seed: laws.seed)
        for _ in laws.rounds(share: 25, laws: 4) {
            try Task.checkCancellation()
            let calls = (0..<Int.random(in: 2...6, using: &random)).map { _ in
                var call = random.pick(pool)
                call.delivery = random.pick(LocalCall.Delivery.allCases)
                if random.isTrue(0.3) { call.ending = random.pick([.cancelledBefore, .cancelledInBody, .dropped]) }
                return call
            }
            guard var found = try await violation(calls, &known, judge) else { continue }
            var (best, index) = (calls, 0)
            while index < best.count, best.count > 1 {
                var copy = best
                copy.remove(at: index)
                if let violation = try await violation(copy, &known, judge) {
                    (best, found) = (copy, violation)
                } else {
                    index += 1
                }
            }
            throw ConformanceFailure(
                expected: found.expected, came: found.came,
                details: "The requests to one transport were:\n\n"
                    + best.map { "    \($0)" }.joined(separator: "\n") + "\n")
        }
    }

    private func violation(
        _ calls: [LocalCall], _ known: inout [LocalCall: LocalResult], _ judge: Judge
    ) async throws -> LawViolation? {
        var expected: [LocalResult] = []
        for call in calls {
            var plain = call
            (plain.delivery, plain.ending) = (.data, .read)
            let result: LocalResult
            if let old = known[plain] { result = old } else { result = try await alone(plain) }
            known[plain] = result
            expected.append(result)
        }
        return try await judge(make(), calls, expected)
    }

    func expectProgress(of request: HTTPRequest, _ delivery: BodyDelivery) async throws {
        let recording = RecordingAccessory()
        let agent = NetworkAgent(configuration: AgentConfiguration(), transport: try make())
        let probe = ConformanceBench.Probe(http: request, delivery: delivery, accessories: [recording])
        let response = try await agent.send(probe, options: CallOptions()).value
        let body = try await response.body.collect(upTo: 1 << 26)
        try await recording.waitUntilQuiet()
        let steps = recording.records().compactMap { record -> TransferProgress? in
            if case .transport(.progress(let progress)) = record.event { progress } else { nil }
        }
        for (first, second) in zip(steps, steps.dropFirst())
        where first.received > second.received || first.sent > second.sent {
            throw ConformanceFailure(expected: "progress that never decreases", came: "\(second) after \(first)")
        }
        let most = steps.map(\.received).max() ?? 0
        if most > Int64(body.count) {
            throw ConformanceFailure(expected: "at most \(body.count) bytes received", came: "\(most)")
        }
        if let total = steps.compactMap(\.totalToReceive).first(where: { $0 != Int64(body.count) }) {
            throw ConformanceFailure(expected: "a total of \(body.count) bytes", came: "\(total)")
        }
    }
}
