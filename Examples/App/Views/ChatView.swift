import ErrandAppModels
import SwiftUI

/// Questions, and replies that grow as they are written.
struct ChatView: View {
    @Bindable var model: ChatModel

    var body: some View {
        VStack {
            List(model.messages) { message in
                HStack {
                    if message.isMine { Spacer() }
                    Text(message.text)
                        .accessibilityLabel("\(message.isMine ? "You" : "The server"): \(message.text)")
                    if !message.isMine { Spacer() }
                }
            }
            FailureText(text: model.failure)
            HStack {
                TextField("Question", text: $model.draft).onSubmit { model.send() }
                if model.isReplying {
                    Button {
                        model.stop()
                    } label: {
                        Image(systemName: "stop.circle").accessibilityLabel("Stop")
                    }
                } else {
                    Button {
                        model.send()
                    } label: {
                        Image(systemName: "paperplane").accessibilityLabel("Send")
                    }
                    .disabled(model.draft.isEmpty)
                }
            }
            .padding()
        }
        .navigationTitle("Chat")
    }
}
