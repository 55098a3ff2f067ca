import Errand
import ErrandEssentials
import ErrandTesting

enum EventCases {
    static let all: [ConformanceDraft] = [
        ConformanceDraft(.events, "timings are reported once, with nil for unknown values") { bench in
            bench.server.on("/body", .data(ConformanceBench.pattern(10_000)))
            for _ in 0..<3 {
                let recording = RecordingAccessory()
                let request = try bench.request(.post, "/body", body: .text("payload"))
                _ = try await bench.viaAgent(request, accessories: [recording])
                try await recording.waitUntilQuiet()
                // A transport may report them on another thread, a moment after the response.
                do { try await recording.wait(for: "timings", within: .seconds(10)) } catch is WaitTimeout {}
                let all = recording.records().compactMap { record -> TransferTimings? in
                    if case .transport(.timings(let timings)) = record.event { timings } else { nil }
                }
                try bench.equal(all.count, 1, "the number of timings reports")
                guard let timings = all.first else { return }
                try plausible(timings, bench)
            }
        },
        ConformanceDraft(.events, "progress ends at the number of bytes sent and received") { bench in
            let body = ConformanceBench.pattern(300_000)
            bench.server.on("/body", .data(body))
            let recording = RecordingAccessory()
            let request = try bench.request(.post, "/body", body: .data(ConformanceBench.pattern(200_000)))
            let received = try await bench.viaAgent(request, accessories: [recording])
            try bench.equal(received.data, body, "the body")
            try await recording.waitUntilQuiet()
            let steps = recording.records().compactMap { record -> TransferProgress? in
                if case .transport(.progress(let progress)) = record.event { progress } else { nil }
            }
            guard let last = steps.last else {
                throw ConformanceFailure(expected: "progress", came: "none")
            }
            try bench.equal(last.received, 300_000, "bytes received, in the last progress report")
            try bench.equal(last.sent, 200_000, "bytes sent, in the last progress report")
            let pairs = zip(steps, steps.dropFirst())
            let isOrdered = pairs.allSatisfy { $0.received <= $1.received && $0.sent <= $1.sent }
            try bench.expect(isOrdered, "progress values that never decrease", came: "\(steps)")
        },
        ConformanceDraft(.events, "the progress of an upload ends at its total, with every method") { bench in
            bench.server.on("/up", .status(200))
            for method in [.post, .put, .patch, .delete, "REPORT"] as [HTTPMethod] {
                for size in [5, 700_000] {
                    let recording = RecordingAccessory()
                    let request = try bench.request(method, "/up", body: .data(ConformanceBench.pattern(size)))
                    _ = try await bench.viaAgent(request, accessories: [recording])
                    try await recording.waitUntilQuiet()
                    let steps = recording.records().compactMap { record -> TransferProgress? in
                        if case .transport(.progress(let progress)) = record.event { progress } else { nil }
                    }
                    try bench.equal(
                        steps.last?.sent, Int64(size), "bytes sent by \(method), in the last progress report")
                    try bench.equal(
                        steps.last?.totalToSend, Int64(size),
                        "the total to send by \(method), in the last progress report")
                }
            }
        },
    ]

    private static func plausible(_ timings: TransferTimings, _ bench: ConformanceBench) throws {
        let times = [timings.queued, timings.nameLookup, timings.connected, timings.firstByte, timings.total]
        try bench.expect(
            times.allSatisfy { $0.map { $0 >= .zero } ?? true }, "times that aren't negative", came: "\(timings)")
        if let first = timings.firstByte, let total = timings.total {
            try bench.expect(first <= total, "a first byte no later than the total time", came: "\(first) and \(total)")
        }
        if timings.isReusedConnection == true {
            let wasMade = timings.nameLookup != nil || timings.connected != nil
            try bench.expect(!wasMade, "nil for the connection time of a reused connection", came: "\(timings)")
        }
        if let count = timings.bytesReceived { try bench.equal(count, 10_000, "body bytes received") }
        if let count = timings.bytesSent { try bench.equal(count, 7, "body bytes sent") }
    }
}
