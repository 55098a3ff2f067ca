import ErrandHTTP
import Testing

@Suite("The fraction of a transfer", .leakChecked) struct TransferProgressTests {
    @Test(
        "the fraction follows from the bytes if the total is known",
        arguments: [
            (TransferProgress(), nil), (TransferProgress(sent: 5, totalToSend: 10), 0.5),
            (TransferProgress(sent: 10, totalToSend: 10), 1), (TransferProgress(received: 1, totalToReceive: 4), 0.25),
            (TransferProgress(sent: 10, totalToSend: 10, received: 5, totalToReceive: 20), 0.5),
            (TransferProgress(sent: 10, received: 5, totalToReceive: 20), 0.5), (TransferProgress(received: 5), nil),
            (TransferProgress(sent: 10, totalToSend: 10, received: 5), nil), (TransferProgress(sent: 5), nil),
            (TransferProgress(sent: 0, totalToSend: 0), nil), (TransferProgress(received: 0, totalToReceive: 0), 1),
            (TransferProgress(received: 9, totalToReceive: 4), 1),
            (TransferProgress(sent: .max, totalToSend: .max, received: 0, totalToReceive: .max), 0.5),
        ] as [(TransferProgress, Double?)])
    func measured(progress: TransferProgress, fraction: Double?) {
        #expect(progress.fraction == fraction)
    }

    @Test("a composite's own fraction takes precedence over the bytes")
    func given() {
        var progress = TransferProgress(sent: 5, totalToSend: 10, fraction: 0.1)
        #expect(progress.fraction == 0.1)
        progress.fraction = nil
        #expect(progress.fraction == 0.5)
    }
}
