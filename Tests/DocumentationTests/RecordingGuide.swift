// The code of docs/recording.md.
import Errand
import ErrandRecording
import ErrandSystemTransport
import Foundation

private func install() {
    let recorder = ExchangeRecorder(maximumBodyBytes: 4096)
    let agent = NetworkAgent(baseURL: "https://api.example.com", transport: .system, accessories: [recorder])
    _ = agent
}

private func archive(_ recorder: ExchangeRecorder, directory: URL) throws {
    try recorder.harFile().encoded().write(to: directory.appending(path: "errand.har"))
}

private func draw(_ recorder: ExchangeRecorder) {
    let page = recorder.waterfallPage(title: "Start of the app").html
    _ = page
}

private func count(_ recorder: ExchangeRecorder) {
    let slowest = recorder.metrics.hosts["api.example.com"]?.percentile(99)
    _ = slowest

    let counters = ExchangeRecorder(maximumExchanges: 0)
    _ = counters
}

private func values(_ recorder: ExchangeRecorder) {
    let recording = recorder.reset()
    let slow = recording.exchanges.filter { $0.duration > .seconds(1) }
    let failed = recording.activities.filter { $0.outcome != .success }
    _ = (slow, failed)
}

private func make(_ request: HTTPRequest, _ response: HTTPResponse) throws {
    var exchange = RecordedExchange(masking: request, response: response, received: response.data, date: .now)
    exchange.duration = .milliseconds(120)
    let entry = try HARFile.Entry(exchange).encoded()
    _ = entry
}

private func own(_ request: HTTPRequest, _ response: HTTPResponse) {
    var redactor = Redactor()
    let headers = redactor.headers(request.headers)
    let url = redactor.url(request.urlText)
    let text = redactor.masking(response.data)
    _ = (headers, url, text)
}
