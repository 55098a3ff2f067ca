#if os(Linux) || os(macOS)
import Errand
import ErrandResumableDownload
import Foundation
import Testing

@testable import errand_download

@Suite("errand-download: output", .leakChecked) struct ToolFormatTests {
    private let item = ReportItem(index: 1, count: 1, url: "https://example.com/film.mp4", name: "film.mp4")
    private let start = ContinuousClock.now
    private let half = TransferStatus(
        transferred: 512 << 20, total: 1 << 30, rate: 10_485_760, timeLeft: .seconds(51), state: .receiving)

    @Test("sizes and times are human-readable")
    func numbers() {
        for (bytes, text) in [
            (0.0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (1536, "1.5 KiB"), (1_048_524, "1023.9 KiB"),
            (1_048_575, "1.0 MiB"), (1_073_741_824, "1.0 GiB"), (-5, "0 B"), (1e30, "867361737988.4 EiB"),
        ] { #expect(Readable.size(bytes) == text) }
        #expect(Readable.size(Int64.max) == "8.0 EiB")
        for (seconds, text) in [
            (Int64(0), "0 s"), (59, "59 s"), (60, "1 min"), (200, "3 min 20 s"), (3599, "59 min"), (3600, "1 h"),
            (7500, "2 h 5 min"), (90_000, "1 day"), (400_000, "4 days"), (.max, "9999 days"), (-1, "0 s"),
        ] { #expect(Readable.time(seconds) == text) }
        #expect(Readable.wait(0.25) == "0.3 s" && Readable.wait(2) == "2 s" && Readable.wait(1e300) == "9999 days")
        #expect(Readable.sizes(in: "5242880 bytes needed, 2048 free") == "5.0 MiB needed, 2.0 KiB free")
        #expect(Readable.sizes(in: "with 12 bytes remaining") == "with 12 bytes remaining")
    }

    @Test("a progress line fits any width without truncating words", arguments: 1...220)
    func widths(columns: Int) {
        let words = Set([
            "50%", "512.0", "MiB", "of", "1.0", "GiB,", "GiB", "10.0", "MiB/s,", "MiB/s", "51", "s", "left",
        ])
        let text = ProgressLine(progress: half).text(columns: columns)
        #expect(TextLayout.width(text) < max(2, columns))
        let details = text.split(separator: "]").last ?? ""
        #expect(
            details.split(separator: " ").map { $0.trimmingCharacters(in: [","]) }
                .allSatisfy { word in words.contains { $0.trimmingCharacters(in: [","]) == word } }, "\(text)")
        let named = ProgressLine(name: "ein-sehr-langer-Name-für-日本語-film.mp4", progress: half)
        #expect(TextLayout.width(named.text(columns: columns, nameWidth: 40)) < max(2, columns))
    }

    @Test("narrow terminals keep the important parts, and wide terminals are used")
    func line() {
        let line = ProgressLine(progress: half)
        #expect(line.text(columns: 40) == " 50% 512.0 MiB of 1.0 GiB, 10.0 MiB/s")
        #expect(line.text(columns: 20) == " 50% 512.0 MiB")
        #expect(
            line.text(columns: 80).hasPrefix("[#########         ]  50% 512.0 MiB of 1.0 GiB, 10.0 MiB/s, 51 s left"))
        #expect(TextLayout.width(line.text(columns: 200)) > 130)
        #expect(line.words == "50% 512.0 MiB of 1.0 GiB, 10.0 MiB/s, 51 s left")
        let unknown = ProgressLine(progress: TransferStatus(transferred: 2048, state: .receiving))
        #expect(unknown.text(columns: 80) == "2.0 KiB" && unknown.words == "2.0 KiB")
        let waiting = ProgressLine(progress: half, state: "waits 3 s").text(columns: 40)
        #expect(waiting == " 50% waits 3 s, 512.0 MiB of 1.0 GiB")
    }

    @Test("text is truncated and wrapped between words, and can't control the terminal")
    func layout() {
        #expect(TextLayout.shortened("abcdefghijklmnop.mp4", to: 11) == "abcd....mp4")
        #expect(TextLayout.shortened("日本語日本語日本語", to: 9) == "日本...語")
        #expect(TextLayout.wrapped("one two three", columns: 8, hanging: 2) == ["one two", "  three"])
        #expect(TextLayout.wrapped("took 3.2 MiB, then", columns: 9) == ["took", "3.2 MiB,", "then"])
        #expect(TextLayout.printable("a\u{1B}[2Jb\n\u{202E}") == "a<001B>[2Jb<000A><202E>")
        #expect(TextLayout.width("e\u{301}日a") == 4)
    }

    @Test("outside a terminal, the output has a line for each tenth, news in between, and the path on standard output")
    func lines() {
        var format = LineFormat(isQuiet: false)
        func texts(_ event: ReportEvent) -> [ReportText] { format.texts(for: event, of: item, at: start) }
        #expect(texts(.progress(TransferStatus(state: .receiving))).isEmpty)
        #expect(texts(.progress(half)) == [.error("50% 512.0 MiB of 1.0 GiB, 10.0 MiB/s, 51 s left\n")])
        #expect(texts(.progress(half)).isEmpty)
        #expect(
            texts(.retry(after: 2, because: "the server doesn't respond")) == [
                .error("the server doesn't respond; another attempt in 2 s\n")
            ])
        #expect(texts(.restart(because: "the file has changed")) == [.error("starts over: the file has changed\n")])
        #expect(texts(.finished(path: "/a", bytes: 1, seconds: 1)) == [.output("/a\n")])
        var quiet = LineFormat(isQuiet: true)
        #expect(quiet.texts(for: .progress(half), of: item, at: start).isEmpty)
        #expect(
            quiet.texts(for: .failed(message: "No.", .failed), of: item, at: start) == [
                .error("errand-download: No.\n")
            ])
    }

    @Test("JSON output is one object per line, with any text")
    func json() throws {
        var format = JSONFormat()
        let odd = ReportItem(index: 2, count: 3, url: "https://example.com/\"\\\u{7F}\u{1}é", name: "x")
        for event: ReportEvent in [
            .started, .progress(half), .progress(TransferStatus(state: .receiving)),
            .retry(after: 0.5, because: "a\nb"),
            .restart(because: ""), .note("n"), .finished(path: "/a\"", bytes: 5, seconds: 1.25),
            .skipped(path: "/b"), .failed(message: "m", .retryable),
        ] {
            let line = try #require(format.texts(for: event, of: odd, at: start).first)
            #expect(line.stream == .output && line.text.hasSuffix("}\n") && !line.text.dropLast().contains("\n"))
            let object = try JSONSerialization.jsonObject(with: Data(line.text.utf8)) as? [String: Any]
            #expect(object?["url"] as? String == odd.url && object?["index"] as? Int == 2)
        }
        #expect(
            format.texts(for: .progress(half), of: item, at: start) == [
                .output(
                    #"{"event":"progress","index":1,"url":"https://example.com/film.mp4","received":536870912,"#
                        + #""total":1073741824,"rate":10485760,"seconds_left":51,"state":"receiving"}"# + "\n")
            ])
        #expect(
            format.end(complete: 1, failed: 2, status: .failed) == [
                .output(#"{"event":"end","complete":1,"failed":2,"status":2}"# + "\n")
            ])
    }

    @Test("on a terminal, progress lines are redrawn, news stays above them, and waits and silence are shown")
    func screen() {
        var format = ScreenFormat { (80, 24) }
        let two = [
            ReportItem(index: 1, count: 2, url: "u1", name: "a.bin"),
            ReportItem(index: 2, count: 2, url: "u2", name: "b.bin"),
        ]
        func text(_ event: ReportEvent, _ index: Int, _ seconds: Double) -> String {
            format.texts(for: event, of: two[index], at: start.advanced(by: .seconds(seconds))).map(\.text).joined()
        }
        _ = text(.started, 0, 0)
        _ = text(.started, 1, 0)
        let drawn = text(.progress(half), 0, 1)
        #expect(
            drawn.hasPrefix("\r\u{1B}[2A") && drawn.contains("a.bin [######      ]  50%")
                && drawn.contains("0 of 2 complete"))
        let retry = text(.retry(after: 10, because: "the server doesn't respond"), 0, 1)
        #expect(retry.contains("\u{1B}[Ja.bin: the server doesn't respond; another attempt in 10 s\n"))
        let later = format.tick(at: start.advanced(by: .seconds(5))).map(\.text).joined()
        #expect(later.contains("waits 7 s") && later.contains("silent for 5 s"))
        let end = format.texts(for: .finished(path: "/x/a.bin", bytes: 1024, seconds: 2), of: two[0], at: start)
        #expect(end.contains(.output("/x/a.bin\n")) && end.contains(.error("a.bin: 1.0 KiB in 2 s, 512 B/s\n")))
        #expect(format.end(complete: 1, failed: 0, status: .interrupted).map(\.text) == ["\r\u{1B}[1A\u{1B}[J"])
        #expect(format.tick(at: start).map(\.text).joined().contains("1 of 2 complete"))
    }

    @Test("a notice becomes a sentence with units and without codes")
    func notices() throws {
        func retry(_ error: any Error) -> ReportEvent {
            let reason = TransferNotice.reason(for: error)
            return ReportEvent(.retrying(attempt: 1, wait: .milliseconds(250), until: Date(), reason: reason))
        }
        let url = try #require(URL(string: "http://a/b"))
        let busy = HTTPResponse(url: url, status: 503)
        #expect(
            retry(ErrandError(.unacceptableStatus, "status 503, expected 200 to 299", response: busy))
                == .retry(after: 0.25, because: "the server responded with 503 Service Unavailable"))
        #expect(
            retry(ErrandError(.timedOut, "nothing was received for 15.0 seconds"))
                == .retry(after: 0.25, because: "the server doesn't respond"))
        #expect(
            retry(ErrandError(.truncated, "received 10 bytes, but 6291456 bytes were announced"))
                == .retry(
                    after: 0.25, because: "the connection ended early (received 10 bytes, but 6.0 MiB were announced)"))
        #expect(
            retry(ErrandError(.connectionLost, "Failure when receiving data from the peer: reset"))
                == .retry(after: 0.25, because: "the connection was lost (reset)"))
        #expect(
            ReportEvent(.restarting(reason: "the file has changed on the server", discarded: 2048))
                == .restart(because: "the file has changed on the server; 2.0 KiB are discarded"))
        #expect(
            ReportEvent(.skipping(5_242_880))
                == .note("the server sends the whole file; 5.0 MiB are skipped"))
    }
}
#endif
