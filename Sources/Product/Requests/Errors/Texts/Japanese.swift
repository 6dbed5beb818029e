extension ErrorTexts {
    static let japanese = ErrorTexts(
        language: "ja", groupSeparator: ",", decimalSeparator: ".",
        signIn:
            "サインインしてから、もう一度お試しください。",
        tooManyRequests:
            "リクエストが多すぎます。{seconds}秒後にもう一度お試しください。",
        notDone:
            "サーバーが現在データに接続できません。何も変更されていません。{seconds}秒後にもう一度お試しください。",
        unknownOutcome:
            "データベースが応答しませんでした。変更は行われた可能性があります。{seconds}秒後に同じIDで送り直してください。",
        storageFull:
            "サーバーが現在ファイルを保存できません。何も変更されていません。{seconds}秒後にもう一度お試しください。",
        resetRequired:
            "ここから変更を続けて取得できません。ライブラリ全体を読み込み直してください。",
        internalError:
            "内部エラーが発生しました。もう一度お試しください。続く場合は、リクエストのIDを添えてお知らせください。",
        text: japanese)

    @Sendable private static func japanese(_ reason: ErrorReason) -> String {
        switch reason {
        case .empty: "入力してください。"
        case .required: "この項目は必須です。"
        case .tooLong: "{max}文字以内で入力してください。"
        case .tooMany: "{max}件まで指定できます。"
        case .tooSmall: "{min}以上の値にしてください。"
        case .outOfRange: "{min}から{max}までの値にしてください。"
        case .duplicate: "同じ値が重複しています。それぞれ別の値にしてください。"
        case .conflictingFields: "{value}のうち一つだけ指定できます。"
        case .invalidChoice: "ここではこの値は使えません。"
        case .invalidCharacter: "テキストにNUL文字が含まれています。"
        case .invalidID: "IDはUUIDにしてください。"
        case .invalidCursor: "このリストはここから続けられません。最初からやり直してください。"
        case .invalidDate: "2019、2019-05、2019-05-01のように、年、月、または日を入力してください。"
        case .inFuture: "この日時は先すぎます。"
        case .inPast: "この日時は過去です。"
        case .datesReversed: "終わりを始まりより前にすることはできません。どちらかの日付を直してください。"
        case .invalidLanguage: "「{value}」は言語ではありません。"
        case .unknownTimeZone: "このタイムゾーンはありません。"
        case .unknownGenre: "「{value}」というジャンルはありません。"
        case .limitReached: "{max}件までです。先にいくつか削除してください。"
        case .wrongConfirmation: "アカウントの削除が正しく確認されていません。"
        case .invalidCredential: "Appleのサインインが無効です。もう一度サインインしてください。"
        case .identityTaken: "このサインイン方法は別のアカウントのものです。そのアカウントを使うには、この方法でサインインしてください。"
        case .secondAppleIdentity: "このアカウントにはすでにAppleのサインイン方法があります。先にそれを解除してください。"
        case .onlyIdentity: "これはアカウントの唯一のサインイン方法です。先に別の方法を追加するか、アカウントを削除してください。"
        case .unknownDocument: "サーバーが認識しないドキュメントが含まれています。"
        case .scopeNotRequested: "アプリが求めたものだけを許可してください。"
        case .alreadyDecided: "このリクエストにはすでに回答済みです。"
        case .signInUnavailable: "現在サインインできません。しばらくしてからもう一度お試しください。"
        case .isbnLength: "ISBNは10桁または13桁です。番号を確認してください。"
        case .isbnCheckDigit: "ISBNのチェックディジットが一致しません。入力ミスがないか確認してください。"
        case .notAnISBN: "このバーコードはISBNではありません。ISBNは978、9791、または9798で始まります。"
        case .shortBarcode: "これは本には使われない短いバーコードです。978または979で始まるバーコードを読み取ってください。"
        case .productBarcode: "このバーコードでは本を特定できません。その近くか奥付にあるISBNを探してください。"
        case .placeholderISBN: "この番号は仮の番号で、本のISBNではありません。"
        case .unknownISBN: "このISBNの本は見つかりません。タイトルを入力して追加してください。"
        case .sourcesUnavailable: "現在利用できる書誌サービスがありません。後でもう一度試すか、タイトルを入力して追加してください。"
        case .emptyBook: "本にはタイトルかISBNが必要です。"
        case .emptyReview: "レビューには評価か本文が必要です。"
        case .emptyNote: "ノートには引用かコメントが必要です。"
        case .invalidStars: "星は{min}刻みで、最大{max}です。"
        case .openReadWithEnd: "読んでいる途中の記録に最終日は付けられません。最終日を消すか、読書を終えてください。"
        case .severalOpenReads: "同じ本を読んでいる途中の記録は一つまでです。ほかの記録を終えてください。"
        case .readIsOpen: "この本はすでに読んでいる途中です。先にそれを終えてください。"
        case .statusContradictsReads: "読んでいる途中の本をこの状態にすることはできません。"
        case .beyondEnd: "本の終わりを超えています。最大は{max}です。"
        case .belowProgress: "すでに{min}ページまで読んでいます。ページ数はそれ以上にしてください。"
        case .nameTaken: "「{value}」はすでにあります。別の名前にしてください。"
        case .alreadyInLibrary: "この本はすでにライブラリにあります。"
        case .idTaken: "このIDは別のものに使われています。"
        case .deleted: "このIDのものは削除されました。"
        case .guestBooks: "ゲストは{max}冊まで登録できます。さらに追加するにはサインインしてください。"
        case .copyIsLent: "この所蔵本はすでに貸し出し中です。先に返却を記録してください。"
        case .invalidFile: "ファイルを読み取れません。"
        case .fileTooLarge: "ファイルは{max} MiBまでです。"
        case .notAFile: "ファイルがありません。"
        case .invalidImage: "この画像は読み取れません。通常のJPEGで送ってください。"
        case .invalidImageURL: "このアドレスから画像を取得できません。"
        case .noImageAtURL: "このアドレスに画像はありません。"
        case .lateImage: "画像の到着が遅すぎました。もう一度送ってください。"
        case .coverStorageUsed: "表紙が保存容量をすべて使っています。いくつか削除してから、もう一度お試しください。"
        case .serverStorageFull: "表紙の保存容量がいっぱいです。後でもう一度お試しください。"
        case .noSuchApp: "このアプリはありません。"
        case .noSuchAuthor: "この人物の本はカタログにありません。"
        case .noSuchAuthorization: "このコードのリクエストはありません。コードの有効期間は10分です。もう一方のアプリで最初からやり直してください。"
        case .noSuchBook: "この本はライブラリにありません。"
        case .noSuchCard: "この本はカタログにありません。"
        case .noSuchCopy: "この所蔵本はありません。"
        case .noSuchDeletedBook: "この本は過去30日間に削除されていません。"
        case .noSuchDocument: "このドキュメントはありません。電子書籍リーダーでもう一度開いてください。"
        case .noSuchGoal: "この目標はありません。"
        case .noSuchImport: "このインポートはありません。"
        case .noSuchLink: "このリンクは無効か、期限が切れています。"
        case .noSuchNote: "このノートはありません。"
        case .noSuchProgress: "この進捗はありません。"
        case .noSuchRead: "この読書記録はありません。"
        case .noSuchReview: "このレビューはありません。"
        case .noSuchShelf: "この本棚はありません。"
        case .noSuchToken: "このアクセストークンはありません。"
        case .noSuchUser: "このアカウントはありません。"
        }
    }
}
