/// Made by `Scripts/texts` from `Web/texts.en.txt`.
extension Strings {
  /// As the texts stand in the files of all languages.
  package enum Key: Int, CaseIterable, Sendable {
    // Everywhere
    case product, crashed, reload, unreachable, outdated, building, opening, framed, openAlone
    // Tabs
    case openElsewhere, takenOver, useHere
    // Signing in
    case welcome, welcomeNote, embeddedTitle, embeddedNote, signIn, createAccount, signingIn, creatingAccount, signInAgain,
      userName, userNameHint, newUserNameHint, password, newPasswordHint, showPassword, hidePassword, token, tokenHint,
      serverIs, change, serverAddress, serverAddressHint, use, checkingServer, serverUnreachable, serverAddressWrong,
      registrationClosed, registrationUnsupported, passwordLoginUnsupported, userNameMissing, userNameWrong,
      userNameWrongLetter, userNameWrongSpace, passwordMissing, passwordShort, forgotPassword, forgotNote, forgotAsk,
      supportTitle, supportPage, yourNameTitle, yourNameNote, yourName, choosePicture, skip, tokenMissing, tokenWrong,
      signInWrong, strangeSignOn, goOnWith, goOnAsGuest, oneMoreStep, email, emailWanted, mailSent, mailNotFollowed,
      emailUnknown, emailTaken, noMailHere, termsToAgree, agree, agreeFirst
    // Invite links
    case inviteLinks, linkInvites, linkInvitesAs, lookingAtLink, linkNotValid, linkElsewhere, linkUnread, signInToJoin,
      signInToChat, linkForMembers, ownLink, inviteByLink, anyoneWithLink, anyoneWithYourLink, showQRCode, hideQRCode, qrCode,
      makingLink, linkCopied, linkNotCopied, linkLasts, linkDays, linkPeople, linkPersons, linkUntil, linkUsed, linkExpired,
      linkUsedUp, linkToYou, revoke, linkRevoked, noInviteLinks, loadingLinks, tooManyLinks
    // Connection
    case offline, noAnswer, nextTry, tryingAgain, connecting, storeFailed
    // Rooms
    case conversations, home, direct, unreadRooms, newConversation, searchBox, searchAll, messages, noMatch, noRooms,
      loadingRooms, homeWelcome, homeNote, homeChat, homeChatNote, homeRoom, homeRoomNote, homeInvite, homeInviteNote, homeFind,
      homeFindNote, pickRoom, pickRoomNote, profile, invitation, draft, noMessages, typingShort, severalTyping, you, unread,
      image, sticker, video, audio, file, location, removedMessage, removedMessageBy, encryptedMessage, invitations,
      askedToJoin, favourites, rooms, roomsToJoin, lowPriority, spaces, markedUnread, fromServer, mentions, mentionedYou,
      reactedTo, optionsOf, waitingForAnswer, shownConversations, allConversations, unreadOnly, mentionsOnly, leftRooms,
      hiddenRooms, hideRoom, showAgain, hidden, chooseSeveral, nothingChosen, leaveRooms, leftCount, notLeft, roomsLeft,
      makeFavourite, noFavourite, makeLowPriority, noLowPriority, markRead, markUnread, muteRoom, unmuteRoom, muteNote,
      snoozeNote, notifyNote, lowPriorityNote, unreadFromHere, whyUnread, unreadElsewhere, readUntil, withdrawRequest,
      notifications, notifyDefault, notifyAll, notifyMentions, notifyNothing, snooze, notSnoozed, snoozedUntil, wake,
      snoozeHour, snoozeMorning, snoozeWeek, roomOrPerson, startChatWith, peopleOnServer
    // Room
    case back, details, roomSettings, chatSettings, spaceSettings, roomsInCommon, members, invitedCount, joinedAndInvited,
      openingRoom, returning, toLatest, invitedBy, invitedToChat, invitedBySomeone, accept, decline, joining, left, banned,
      unknownRoom, join, forget, chatBegins, notJoinedYet, cannotReadYet, sayHello, roomBegins, addTopic, endToEnd,
      endToEndNote, notEncrypted, notEncryptedNote, openChatYet, canEncryptNow, upgraded, mayNotWrite, goToNewRoom, onlyInvited,
      callLost, copyText, delete, deleteForMe, deleteForMeQuestion, deleteForMeNote, discard, selected, retry, select,
      saveMessage, selectedMessages, selectedCount, selectedMost, endSelection, deleteNow, deleteSelectedQuestion,
      deleteSelectedOthers, nothingToDelete, nothingToForward, savedMessages, savedNote, savedEmpty, savedRemove, savedRemoved,
      messagesSaved, savedGone, savedFull, deliveredTo, copied, cancelSending, deleteQuestion
    // In the open room
    case replyUnavailable, youName, theyJoined, moreChanges, showChanges, hideChanges, reply, replyInThread, forward, forwardTo,
      forwardNow, forwarding, forwarded, fileNeedsEncryption, forwardToOpen, forwardAnyway, forwardedFrom, moreActions, react,
      copyLink, pin, unpin, endPoll, notificationsOff, sendMore, sendSilently, takePicture, takeAgain, cameraRefused,
      cameraMissing, newPoll, pollQuestion, pollAnswer, pollAddAnswer, pollSeveral, pollDisclosed, pollIncomplete, sendPlace,
      sendContact, shareContact, placeSought, placeRefused, placeUnknown, ownPlace, voiceMessage, stopRecording,
      microphoneRefused, microphoneMissing, askMicrophone, askCamera, askPlace, sendFiles, caption, asOneMessage, pollEndedText,
      report, reportTitle, reportRoom, reportPerson, reportNote, reportReason, reportKind, reportSpam, reportAbuse,
      reportViolence, reportIllegal, reportOther, reporting, reported, messageInfo, editedTimes, sentSilently, eventID,
      viewSource, source, emoji, emojiTitle, emojiSearch, noEmoji, emojiRecent, emojiPeople, emojiNature, emojiFood,
      emojiActivities, emojiTravel, emojiObjects, emojiSymbols, emojiFlags, reactions, readers, playFailed, editing, replyingTo,
      unknownCommand, commandUse, completions, roomMenu, thread, markAllRead, threads, noThreads, everywhere, previous, nextOne,
      pinnedMessages, nothingPinned, searchRoom, searchFor, searching, nothingFound, moreResults, narrowSearch, saidBy,
      saidByHint, onlyKind, anyMessage, picturesAndVideos, files, links, sinceDay, untilDay, wordsWanted, shownCount,
      notAllLookedAt, encryptedSearchNote, sharedInRoom, showMessage, noPictures, noFiles, noLinks, exportChat, exportTitle,
      exportNote, exportFormat, exportPage, exportLines, exportSince, exportUntil, exportNow, exporting, exportedSoFar,
      exported, exportNothing, exportNotWritten, exportCut, exportAll, exportAllNote, exportSkipped, exportDaysWrong,
      exportAbout, jumpToDate, date, jump, messagesOfDay, calendarEntry, firstUnread, nothingUnread, linkPreviews,
      encryptedPreviews, encryptedPreviewsNote, noPreviewOf, shortcuts, messageKeys, nextPart, nextEntry, editLast, newLine,
      bold, italic, strikeThrough, code, quote, bulletList, formatting, link, slideToCancel, stickers, ownStickers,
      loadingStickers, noStickers, addSticker, makeSticker, stickerMade, removeStickers, gifs, gifSearch, loadingGifs, gifsFrom,
      wholeRoom, groupModerators, groupHere, alsoInRoom, voters, pinnedCount, skinTone
    // Details
    case about, roomName, topic, noTopic, edit, save, saving, cancel, close, people, invite, inviting, inviteTitle, invited,
      notInvited, isInvited, isYou, loadingMembers, moreMembers, hereNow, sinceJoined, leave, leaveQuestion, leaveNote,
      leaveOnlyAdmin, leaveChat, leaveChatQuestion, leaveChatNote, reportChat, leaving, address, copy, message, mentionPerson,
      remove, removeQuestion, removing, whoMayJoin, ruleAnyone, ruleKnock, ruleInvited, ruleRestricted, ruleSpace, whoMayRead,
      readAnyone, readMembers, readSinceInvited, readSinceJoined, addresses, noAddresses, mainAddress, makeMain, addAddress,
      removeNamed, isListed, yes, no, permissions, general, access, roles, rolesNote, fineControl, permissionsNote,
      sendMessages, deleteOthers, notifyEverybody, groups, groupsNote, newGroup, groupName, groupNameHint, groupNameWrong,
      groupMember, advanced, guestsMayJoin, slowMode, noSlowMode, slowModeNote, seconds, minutes, hours, followBans, roomID,
      roomVersion, roomMade, upgrade, upgradeNote, addRoomToSpace, addRoom, existingRoom, noRoomToAdd, add, newSpace,
      newSpaceNote, spaceName, spaceNameMissing, createSpace, findSpace, publicSpace, privateSpace, aboutSpace, addedToSpace,
      takeOut, moveUp, moveDown, searchMembers, letIn, bannedMembers, ban, banQuestion, unban, reasonOptional, role, roleMuted,
      roleMember, roleModerator, roleAdministrator, roleCreator, roleOfLevel, ignoreUser
    // New conversation
    case directChat, newRoom, joinRoom, userID, personField, personHint, personMissing, personNotFound, inRoomAlready,
      startChat, starting, createRoom, creating, roomNameMissing, topicOptional, inviteOptional, anyoneMayJoin, aliasHint,
      aliasName, aliasWrong, joinAddress, joinAddressHint, kindOfRoom, plainRoom, space, searchRooms, directoryHint,
      publicRooms, showMore, loadingPeople, loadingRoomList, noPublicRooms, openRoom, askToJoin, asked
    // Profile
    case displayName, displayNameHint, changePicture, uploadingPicture, notPicture, language, chaptersAll, browserLanguage,
      privateReceipts, privateTyping, logOut, logOutQuestion, logOutNote, loggingOut
    // Image
    case download, share, fetching, downloadFailed, imageNamed
    // What went wrong
    case serverSilent, answerSenseless, userIDWrong, roomAddressWrong, ownUserID, notSignedIn, tooLarge, noHomeserver,
      serverUntrusted, stopped, outboxFull, targetFailed, messageGone, notAllowed, cannotBeSent, fileGone, fileDamaged,
      userNameTaken, nameReserved, accountClosed, accountLocked, tooManyTries, roomAddressTaken, notKnown, serverInTrouble,
      refused
    // Rooms without a name
    case labelled, listed, listedLast, others, unnamedRoom, emptyRoom, emptyRoomOf
    // Messages
    case newMessagesDivider, newMessages, timeline, startOfHistory, loading, loadingFailed, gap, sending, queued, heldMessage,
      notSent, edited, undecryptable, waitingForKey, keyOverdue, keyBlocked, keyForVerified, keyRefused, keyUnreachable,
      sentBeforeJoining, readFromHere, sentBeforeDevice, verifyToRead, askDevices, askedDevices, noOtherDevice, hiddenUnsigned,
      hiddenChanged, hiddenReplay, messageDamaged, fromUnsigned, fromUnknown, senderNotProven, keyFromInviter,
      senderKeysChanged, notEncryptedMessage, unsupported, unreadMembers, typing, openImage, openVideo, uploading, play, pause,
      seek, playbackRate, liveLocation, poll, votes, pollVoters, pollEnded, spoiler, spoilerAbout, replyToMessage, replyTo,
      replies, addReaction, reactWith, reaction, reactionBy, readBy, sent, delivered, read, endOfHistory, composerPlaceholder,
      attach, sendPhoto, send, charactersLeft, charactersOver
    // What happened in a room; {0} did it
    case because, joined, leftRoom, invitedMember, inviteRejected, inviteWithdrawn, kicked, bannedMember, unbanned, knocked,
      knockAccepted, knockDenied, knockWithdrawn, renamed, nameRemoved, avatarChanged, someoneInvited,
      thirdPartyInviteWithdrawn, roomCreated, chatStarted, chatStartedYou, roomNamed, roomNameRemoved, topicSet, topicRemoved,
      roomAvatarChanged, addressSet, addressRemoved, addressesChanged, encryptionEnabled, joinPublic, joinKnock, joinRestricted,
      joinInvite, historyWorld, historyShared, historyInvited, historyJoined, historyChanged, guestsAllowed, guestsForbidden,
      powerChanged, powerLevelsChanged, powerLevel, pinned, unpinned, pinsChanged, serverACLChanged, roomUpgraded, childAdded,
      childRemoved, parentAdded, parentRemoved, ruleSet, ruleRemoved, settingsChanged
    // Account
    case isItYou, passwordToGoOn, goOnElsewhere, openPage, goOn, checking, passwordWrong, notDoneYet, settings, privacy,
      keyboard, aboutMartlet, aboutNote, server, profileTab, appearance, devices, account, presence, presenceOnline,
      presenceAway, presenceHidden, doNotDisturb, quietUntilTime, disturbAgain, isHere, isAway, statusText, statusHint, status,
      setStatus, changeStatus, removeStatus, clearStatus, statusUntil, statusStays, statusHour, statusDay, statusWeek,
      statusMeeting, statusLunch, statusHome, statusIll, statusHoliday, theme, themeSystem, themeLight, themeDark,
      themeContrast, density, densityComfortable, densityCompact, showDeleted, writeRich, showFigures, developerOptions,
      figures, figureFrames, figureLate, figureTask, figureShift, figureSync, figureRequests, figureUnsent, figureRows,
      copyFigures, notCopied, browserNotifications, notificationsDenied, whyNotifications, noNotificationsHere,
      notificationSound, quietFrom, quietUntil, quietNote, pushes, noPushesHere, noWebPush, pushFailed, tellAnything,
      tellMentions, tellRoomMentions, tellInvitations, tellReactions, inDirectChats, inRooms, keywords, newKeyword, keywordHint,
      addKeyword, removeKeyword, signOutOthers, loadingDevices, lastSeen, signedInAt, thisDevice, rename, deviceName,
      changePassword, newPassword, passwordChanged, emails, noEmails, addEmail, emailAdded, closeAccount, closeAccountNote,
      eraseMessages, ignoredUsers, stopIgnoring, ignore
    // Calls
    case callThem, callThemWithCamera, startCall, callMade, callMadeDeclined, callMadeUnanswered, callMadeNoAnswer, callOf,
      callsYou, callsYouWithCamera, callRings, callConnects, callInterrupted, callAnswer, callAnswerWithCamera, callDecline,
      askToCall, askToCallWithCamera, allowDevices, devicesRefused, microphoneLevel, callEnd, callBack, microphoneOff,
      microphoneOn, cameraOff, cameraOn, cameraTurn, shareScreen, stopSharing, pictureInPicture, callHeight, ownPicture,
      pictureOf, theirMicrophoneOff, callDeclined, callUnanswered, callElsewhere, callBusy, callBroken, callNoMedia,
      callNoCamera, callNotSent, callOver
    // Calls of rooms
    case groupCallHere, groupCallRings, notNow, groupCallIn, groupCallPeople, groupCallGrid, groupCallSpeaker, groupCallDevices,
      groupCallCamera, groupCallMicrophone, groupCallNotHere, groupCallHear, groupCallMute, groupCallRemove, groupCallRecorded,
      groupCallMuted, groupCallRemoved, groupCallGone, groupCallFull, groupCallNoCamera, groupCallMicrophoneIsOff,
      groupCallScreenOf, groupCallSealed, groupCallCannotSeal, groupCallNowSealed, groupCallKeysLost, groupCallLocked,
      joinedCall, leftCall, endedCall, callHangUpAndAnswer, groupCallLoudspeaker
    // Encryption
    case encrypted, encryptionStopped, encryptionBuilding, awaitEncryption, awaitEncryptionNote, awaitingEncryption,
      beginUnencrypted, encryptedNotKept, logOutLosesKeys, encryptRoom, encryptRoomNote, turnOnEncryption, turnOnEncryptionAsk,
      turnOn, turningOn, encryptionTab, encryptionNote, browserVerified, browserUnverified, setUpRecovery, makeRecoveryKey,
      setUpRecoveryNote, recoveryAsk, recoveryKey, yourRecoveryKey, recoveryKeyNote, savedRecoveryKey, recoveryIsOn,
      newRecoveryKey, newRecoveryKeyAsk, newRecoveryKeyNote, recoveryField, recover, recovered, wrongRecoveryKey,
      recoveryChanged, recoveryMissing, keysRestored, awayReady, awayReading, awayRead, awayUnreadable, awayNewer, awayTooMany,
      encryptionUnavailable, encryptionRefused, keysChanged, whatToDo, keysChangedNote, sendAnyway, keysChangedHere,
      verifiedKeysChanged, goOnAnyway, unsignedDevices, refusedDevices, identityHidden, signatureHidden, namesCollided,
      wasThisYou, wasNotYou, resetKeys, resetKeysAsk, resetKeysNote, resetKeysNow, whoReads, readersUsual, readersSigned,
      readersVerified, readersAll, readersNote, keyFiles, technicalDetails, technicalNote, keyFilesNote, exportKeys, importKeys,
      exportKeysNow, importKeysNow, exportKeysNote, importKeysNote, importingKeys, passphrase, passphraseAgain,
      passphrasesDiffer, keysProgress, keysExported, keysImported, wrongPassphrase, notAKeyFile, keyFileCutOff, newerKeyFile,
      keyFileTooLarge, keyFileNotWritten
    // Verification
    case verified, notVerified, verify, verifyPerson, verifyDevice, confirmYou, confirmYouNote, useOtherDevice,
      useOtherDeviceNote, useRecoveryKey, useRecoveryKeyNote, verifyAsking, verifyWaitDevice, verifyWaitPerson, verifyChoose,
      compareEmoji, compareNumbers, verifyCode, scanThisCode, scanOtherCode, scanHold, scanUnreadable, verifyNoWay,
      verifyAgreeing, compareWithDevice, compareWithPerson, theyMatch, theyDiffer, codeScannedDevice, codeScannedPerson,
      verifyConfirmed, deviceVerified, personVerified, verifyCancelled, verifyTimedOut, verifyMismatch, verifyElsewhere,
      verifyFailed, personAsksVerify, deviceAsksVerify, newDeviceAsksVerify, yesVerify, ignoreRequest, verificationRequest,
      verificationWaiting, verificationGoesOn, verificationDone, verificationCancelled, sasNames
    // Administration
    case administration, onlyAdministrators, backToChats, adminOverview, adminUsers, adminRegistration, adminReports,
      adminMedia, adminNotices, adminAudit, adminLoading, adminWorking, adminDone, adminActions, adminShow, adminShown,
      adminNever, adminForGood, adminFailed, adminSearchUsers, adminStatus, adminCreated, adminLastSeen, adminEverybody,
      adminAdministrators, adminLockedUsers, adminDeactivatedUsers, adminAdministrator, adminGuest, adminDeactivated,
      adminLocked, adminSuspended, adminShadowBanned, adminCreateUser, adminCreate, adminMakeAdministrator, adminMakeQuestion,
      adminMakeNote, adminTakeAdministration, adminTakeQuestion, adminTakeNote, adminLock, adminUnlock, adminLockQuestion,
      adminLockNote, adminSuspend, adminUnsuspend, adminSuspendQuestion, adminSuspendNote, adminResetPassword,
      adminResetQuestion, adminResetNote, adminEndDevices, adminDeactivate, adminDeactivateQuestion, adminDeactivateNote,
      adminErase, adminAddress, adminNoDevices, adminEndAll, adminAllDevices, adminEndQuestion, adminNoRooms, adminFiles,
      adminNoFiles, adminSize, adminUploaded, adminQuarantine, adminQuarantined, adminRelease, adminQuarantineAll,
      adminQuarantineQuestion, adminQuarantineNote, adminDelete, adminDeleteFileQuestion, adminDeleteOld,
      adminDeleteOldQuestion, adminDeleteOldNote, adminFilesDeleted, adminOlderThan, adminDayMissing, adminSearchRooms,
      adminOrder, adminByMembers, adminByName, adminKind, adminCreator, adminPublic, adminEncrypted, adminNoName,
      adminRoomVersion, adminBlocked, adminBlock, adminUnblock, adminBlockQuestion, adminBlockNote, adminBlockToo,
      adminDeleteRoom, adminDeleteRoomQuestion, adminDeleteRoomNote, adminDeleting, adminRoomDeleted, adminPurge,
      adminPurgeQuestion, adminPurgeNote, adminPurging, adminPurged, adminNobody, adminReported, adminReporter, adminWhen,
      adminNoReports, adminReport, adminMessageReport, adminRoomReport, adminUserReport, adminAccused, adminContext,
      adminRemoveMessage, adminRemoveMessageQuestion, adminOpenUser, adminOpenRoom, adminChooseAll, adminDismissChosen,
      adminDismissSeveral, adminDismiss, adminDismissQuestion, adminDismissNote, adminTokens, adminTokensNote, adminNoTokens,
      adminUses, adminUsedOf, adminUsedUnlimited, adminUsedUp, adminExpires, adminCreateToken, adminTokenHint, adminUsesAllowed,
      adminUsesHint, adminDays, adminDaysHint, adminNumberWrong, adminRevoke, adminRevokeQuestion, adminRevokeNote,
      adminLinksNote, adminLinkTo, adminLinkToMaker, adminNoLinks, adminRevokeLink, adminRevokeLinkNote, adminNoticesNote,
      adminSendNotice, adminNoticeTo, adminNoticeText, adminTextMissing, adminBroadcasts, adminBroadcast,
      adminBroadcastQuestion, adminBroadcastNote, adminNoBroadcasts, adminReached, adminNotReached, adminSearchActor,
      adminAction, adminEverything, adminTarget, adminActor, adminOutcome, adminDoneOutcome, adminInterrupted, adminOperator,
      adminActiveToday, adminActiveMonth, adminHistory, adminSpan, adminLastDays, adminActiveByDay, adminMessagesByDay,
      adminAsTable, adminHealth, adminServer, adminVersion, adminRunning, adminDisk, adminFreeOf, adminDatabase, adminLog,
      adminQueue, adminQueueWords, adminLatency, adminLatencyWords
  }
}
